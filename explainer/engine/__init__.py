"""The real kernels, in a child process: requests, admission, queue, worker, judging, records."""
