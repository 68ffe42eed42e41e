-- Sends requests of one kind to an API. Arguments: method; path, with %s for an id; name and value of the header with
-- the credential; body, with %d for numbers, or an empty text; a file with an id on each line; the first number.

dofile((debug.getinfo(1, "S").source:sub(2):gsub("[^/]+$", "figures.lua")))

function init(args)
   local method, path, header, credential, body, file, first = unpack(args)
   local headers, ids, number = { [header] = credential }, {}, tonumber(first)
   for id in io.lines(file) do
      ids[#ids + 1] = id
   end
   if body ~= "" then
      headers["Content-Type"] = "application/json"
   end
   math.randomseed(number)
   request = function()
      number = number + 1
      local content = body ~= "" and body:gsub("%%d", number) or nil
      return wrk.format(method, path:format(ids[math.random(#ids)]), headers, content)
   end
end
