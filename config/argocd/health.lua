-- The health of an object of any kind, from its conditions. Standard libraries of Lua are not needed.

local function health(status, message)
  return {status = status, message = message or ""}
end

local status = obj.status or {}
local conditions = {}
for _, condition in ipairs(status.conditions or {}) do
  conditions[condition.type] = condition
end

-- The operator sets only Accepted on an engine, and never on another kind: the other conditions there are of other controllers.
if obj.kind == "DatabaseEngine" then
  conditions = {Accepted = conditions.Accepted}
else
  conditions.Accepted = nil
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

local ready = conditions.Ready or conditions.Accepted
if ready == nil then
  return health("Progressing", "waiting for the operator")
end
if (ready.observedGeneration or 0) < (obj.metadata.generation or 0) then
  return health("Progressing", "waiting for the operator to observe the latest spec")
end

if status.phase == "Failed" or is("Accepted", "False") then
  return health("Degraded", ready.message)
end
for _, row in ipairs({
  {"Stalled", "True", "Degraded"}, {"Degraded", "True", "Degraded"}, {"Verified", "False", "Degraded"},
  {"Paused", "True", "Suspended"}, {"Hibernated", "True", "Suspended"},
}) do
  if is(row[1], row[2]) then
    return health(row[3], conditions[row[1]].message)
  end
end

-- All members are ready, and the rest of a rollout is yours: spec.updateStrategy.paused, or type OnDelete.
local progressing = conditions.Progressing
if progressing ~= nil and is("Available", "True") and (progressing.reason == "RolloutPaused" or progressing.reason == "WaitingForUser") then
  return health("Suspended", progressing.message)
end
if ready.status ~= "True" then
  return health("Progressing", ready.message)
end

-- These have conditions and alerts of their own. A sync does not wait for them.
local message = ready.message or ""
for _, kind in ipairs({"BackupHealthy", "BackupVerified", "ContinuousArchiving", "ProtectionEnforced"}) do
  if is(kind, "False") and conditions[kind].reason ~= "NotProtected" then
    message = message .. "; " .. kind .. " is False: " .. conditions[kind].message
  end
end
return health("Healthy", message)
