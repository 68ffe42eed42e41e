-- Requests as browsers send them, built before the load starts, so that sending one is a table lookup.
--
-- Arguments: the folder with the files visits (path and host on each line), agents, referrers, languages and addresses
-- (for X-Forwarded-For; may be empty); a seed; keep-alive or close; the average pause of each connection before a
-- request, in milliseconds (0: no pause); how many requests a connection sends at once; zipf, if the popularity of a
-- visit is inversely proportional to its place in the file, or uniform.

dofile((debug.getinfo(1, "S").source:sub(2):gsub("[^/]+$", "figures.lua")))

local HEAD = table.concat({
   "GET %s HTTP/1.1", "Host: %s", "Connection: %s", "Upgrade-Insecure-Requests: 1", "User-Agent: %s",
   "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
   "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document", "Referer: %s",
   "Accept-Encoding: gzip, deflate, br", "Accept-Language: %s%s", "", "",
}, "\r\n")

local function lines(path)
   local result = {}
   for line in io.lines(path) do result[#result + 1] = line end
   return result
end

function init(args)
   local folder, connection, mean = args[1], args[3], tonumber(args[4])
   math.randomseed(tonumber(args[2]))
   local random, floor, log = math.random, math.floor, math.log
   local agents, referrers = lines(folder .. "/agents"), lines(folder .. "/referrers")
   local languages, addresses = lines(folder .. "/languages"), lines(folder .. "/addresses")
   local requests = {}
   for number, line in ipairs(lines(folder .. "/visits")) do
      local path, host = line:match("(%S+) (%S+)")
      local forwarded = #addresses > 0 and "\r\nX-Forwarded-For: " .. addresses[random(#addresses)] or ""
      requests[number] = HEAD:format(
         path, host, connection, agents[random(#agents)], referrers[random(#referrers)], languages[random(#languages)],
         forwarded
      )
   end
   local depth, count = tonumber(args[5]), #requests
   local pick = function() return requests[random(count)] end
   if args[6] == "zipf" then
      -- The inverse of the distribution function of the density 1 / x between 1/2 and count + 1/2.
      pick = function() return requests[floor(0.5 * (2 * count + 1) ^ random() + 0.5)] or requests[count] end
   end
   if depth > 1 then
      local batches = {}
      for number = 1, 4096 do
         local batch = {}
         for place = 1, depth do batch[place] = pick() end
         batches[number] = table.concat(batch)
      end
      requests, count = batches, #batches
      pick = function() return requests[random(count)] end
   end
   if count == 1 then
      -- wrk calls this once and repeats the request without calling again.
      wrk.format = function() return requests[1] end
   else
      request = pick
   end
   if mean > 0 then
      -- wrk's clock has whole milliseconds: round at random, so that the mean is preserved.
      delay = function() return floor(-mean * log(1 - random()) + random()) end
   end
end
