"""Out of what each rank reports, the operations of the job."""
