"""The chapters of the Memory and Parallel pages: what each picture shows, as plain data."""
