/** Times as the API shows them: `2024-05-01T10:00:00.123456Z`, whatever the zone of the session. */
export function toUtcTime(text: string): string {
  // Operators may set banned_until to infinity in SQL, which JavaScript cannot parse.
  if (text === 'infinity') return lastTime
  const iso = text.replace(' ', 'T')
  if (/(?:Z|\+00(?::?00)?)$/.test(iso)) return iso.replace(/\+00(?::?00)?$/, 'Z')
  const [, time = '', fraction = '', zone = ''] =
    /^(.+?)(\.\d+)?([+-]\d{2}(?::?\d{2}){0,2})$/.exec(iso) ?? []
  const ms = Date.parse(`${time}Z`) - toOffsetMs(zone)
  // Not a time in the form of ISO 8601: left as it is rather than guessed at.
  if (Number.isNaN(ms)) return text
  return `${new Date(ms).toISOString().slice(0, 19)}${fraction}Z`
}

function toOffsetMs(zone: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = (zone.slice(1).match(/\d{2}/g) ?? []).map(Number)
  const size = ((hours * 60 + minutes) * 60 + seconds) * 1_000
  return zone.startsWith('-') ? -size : size
}

const lastTime = '9999-12-31T23:59:59.999999Z'
