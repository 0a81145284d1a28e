import { formatTime } from './format.ts'

/** The auth server does not support bans without an end, so a permanent ban lasts this long. */
export const permanentBanYears = 100

const yearMs = 365 * 24 * 3_600_000

/** Half of the years are enough, so that the ban is still shown as permanent decades later. */
export function isPermanentBan(until: number | string, now = Date.now()): boolean {
  return new Date(until).getTime() - now > (permanentBanYears / 2) * yearMs
}

/** Such as `until 15 Nov 2026, 16:42:57`, or `permanently`. */
export function formatBanEnd(until: number | string, now = Date.now()): string {
  return isPermanentBan(until, now) ? 'permanently' : `until ${formatTime(until)}`
}
