-- Every batch updates counts; free space in the page makes that cheap (HOT).
ALTER TABLE analytics_busydaycount SET (fillfactor = 70);
ALTER TABLE analytics_lifecount SET (fillfactor = 70);
-- Several processes would read the whole table for a long report of a busy link; one reads the link's rows by index.
ALTER TABLE analytics_busydaycount SET (parallel_workers = 0);
ALTER TABLE analytics_monthcount SET (parallel_workers = 0);
INSERT INTO analytics_closedday VALUES ('1970-01-01');
