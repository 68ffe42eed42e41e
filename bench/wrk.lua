-- What browsers send, made before the load begins, so that sending one costs a look into a table.
--
-- Arguments: the folder with the files visits (path and host, a line each), agents and referrers; a seed;
-- keep-alive or close; milliseconds that each connection thinks before it asks, on average (0: it never does).

dofile((debug.getinfo(1, "S").source:sub(2):gsub("[^/]+$", "figures.lua")))

local HEAD = table.concat({
   "GET %s HTTP/1.1", "Host: %s", "Connection: %s", "Upgrade-Insecure-Requests: 1", "User-Agent: %s",
   "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
   "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document", "Referer: %s",
   "Accept-Encoding: gzip, deflate, br", "Accept-Language: en-GB,en;q=0.9,de;q=0.8", "", "",
}, "\r\n")

local function lines(path)
   local found = {}
   for line in io.lines(path) do found[#found + 1] = line end
   return found
end

function init(args)
   local folder, connection, mean = args[1], args[3], tonumber(args[4])
   math.randomseed(tonumber(args[2]))
   local random, floor, log = math.random, math.floor, math.log
   local agents, referrers = lines(folder .. "/agents"), lines(folder .. "/referrers")
   local requests = {}
   for number, line in ipairs(lines(folder .. "/visits")) do
      local path, host = line:match("(%S+) (%S+)")
      requests[number] = HEAD:format(path, host, connection, agents[random(#agents)], referrers[random(#referrers)])
   end
   local count = #requests
   if count == 1 then
      -- wrk sends what it has been given once without asking again.
      wrk.format = function() return requests[1] end
   else
      request = function() return requests[random(count)] end
   end
   if mean > 0 then
      -- Whole milliseconds, which is what wrk's clock knows: rounded at random, so that the mean is kept.
      delay = function() return floor(-mean * log(1 - random()) + random()) end
   end
end
