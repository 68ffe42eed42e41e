-- Creates links through the API, each with a different body. Arguments: the API key; the first number.

dofile((debug.getinfo(1, "S").source:sub(2):gsub("[^/]+$", "figures.lua")))

local BODY = '{"originalUrl": "https://www.example.com/spring/sale/%d?utm_source=newsletter", '
   .. '"title": "Spring sale %d", "tags": ["spring", "Newsletter"]}'

function init(args)
   local headers = { ["Content-Type"] = "application/json", ["X-API-Key"] = args[1] }
   local number = tonumber(args[2])
   request = function()
      number = number + 1
      return wrk.format("POST", "/api/urls", headers, BODY:format(number, number))
   end
end
