-- Every batch updates counts; free space in the page makes that cheap (HOT).
ALTER TABLE analytics_daytotal SET (fillfactor = 70);
ALTER TABLE analytics_quartertotal SET (fillfactor = 70);
ALTER TABLE analytics_daycount SET (fillfactor = 70);
ALTER TABLE analytics_lifecount SET (fillfactor = 70);
-- Several processes would read the whole table for a long report of a busy link; one reads the link's rows by index.
ALTER TABLE analytics_daycount SET (parallel_workers = 0);
ALTER TABLE analytics_monthcount SET (parallel_workers = 0);
INSERT INTO analytics_closedday VALUES ('1970-01-01');

-- The rows of a day are stored in the order of their arrival: a BRIN index on them costs the drainer almost nothing.
CREATE INDEX daytotal_day ON analytics_daytotal USING brin (day) WITH (pages_per_range = 32, autosummarize = on);
CREATE INDEX daycount_outcome_day ON analytics_daycount (day) WHERE dimension = 5;
