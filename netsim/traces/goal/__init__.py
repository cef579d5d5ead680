"""GOAL schedules, text and binary."""
