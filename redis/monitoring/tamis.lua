-- Returns the figures of INFO bf_tamis for redis_exporter, which exports each of them as
-- redis_script_values{key="bf_..."}. Fields that are not numbers are left out: the reason of the
-- last refused load, and the name of the biggest key, even if it looks like a figure.
local found = {}
for line in string.gmatch(redis.call('INFO', 'bf_tamis'), '[^\r\n]+') do
    local name, value = string.match(line, '^(bf_[%w_]+):(-?%d+)$')
    if name and name ~= 'bf_biggest_key' then
        found[#found + 1] = name
        found[#found + 1] = value
    end
end
return found
