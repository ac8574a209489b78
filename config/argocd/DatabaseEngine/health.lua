-- The health of a DatabaseEngine, from its condition Accepted. Standard libraries of Lua are not needed.

local function health(status, message)
  return {status = status, message = message or ""}
end

if obj.metadata.deletionTimestamp ~= nil then
  return health("Progressing", "waiting for the deletion")
end
for _, condition in ipairs(obj.status and obj.status.conditions or {}) do
  if condition.type == "Accepted" and (condition.observedGeneration or 0) >= (obj.metadata.generation or 0) then
    if condition.status == "True" then
      return health("Healthy", condition.message)
    end
    return health("Degraded", condition.message)
  end
end
return health("Progressing", "waiting for the operator")
