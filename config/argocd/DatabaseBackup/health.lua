-- The health of a DatabaseBackup, from its phase and conditions. Standard libraries of Lua are not needed.

local function health(status, message)
  return {status = status, message = message or ""}
end

local status = obj.status or {}
local conditions = {}
for _, condition in ipairs(status.conditions or {}) do
  conditions[condition.type] = condition
end

local function is(kind, wanted)
  return conditions[kind] ~= nil and conditions[kind].status == wanted
end

-- Argo CD itself reports Progressing for an object that is being deleted, unless the object is a hook of a sync.
if obj.metadata.deletionTimestamp ~= nil then
  if is("DeletionBlocked", "True") then
    return health("Degraded", conditions.DeletionBlocked.message)
  end
  return health("Progressing", conditions.DeletionBlocked and conditions.DeletionBlocked.message or "waiting for the deletion")
end

local ready = conditions.Ready
if ready == nil then
  return health("Progressing", "waiting for the operator")
end
if status.phase == "Failed" then
  return health("Degraded", ready.message)
end
if is("Stalled", "True") then
  return health("Degraded", conditions.Stalled.message)
end
if is("Verified", "False") then
  return health("Degraded", conditions.Verified.message)
end
if status.phase == "Completed" then
  return health("Healthy", ready.message)
end
return health("Progressing", ready.message)
