"""Programs, warps and time: launches, simulated and real schedules, split keys."""
