-- Requests and wrong passwords write to these tables all the time, and a crash makes the rows worthless. Unlogged tables
-- need no write-ahead log. Every request updates a row of limits_requestcount: free space on each page allows HOT updates.
ALTER TABLE limits_attemptlog SET UNLOGGED;
ALTER TABLE limits_knownnetwork SET UNLOGGED;
ALTER TABLE limits_requestcount SET UNLOGGED;
ALTER TABLE limits_requestcount SET (fillfactor = 50);
