"""What each section of the report shows: tables in, plain values for its template out."""
