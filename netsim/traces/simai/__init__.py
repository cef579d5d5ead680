"""Workloads of SimAI and AICB."""
