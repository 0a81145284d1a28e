import type { ProviderId } from '../../config/external.ts'
import { isTrue } from './provider.ts'

/**
 * Whether an address counts as verified where the provider does not say so about each. One that does
 * leads to the account that has it (reference 6.9), so whoever can write any address into a profile
 * there could enter any account here: `false` makes them confirm it by mail first. The others say it
 * about each address.
 */
export const trustsEmails = {
  apple: true,
  // Since 2023 new registrations get no address whose domain nobody has shown to own.
  azure: true,
  facebook: true,
  figma: true,
  linkedin: true,
  notion: true,
  slack: true,
  // Anybody may enter any address there.
  spotify: false,
  twitch: true,
  twitter: true,
  workos: true,
} as const satisfies Partial<Record<ProviderId, boolean>>

/** @param said by the provider about this one address; undefined: nothing. */
export function isTrusted(id: keyof typeof trustsEmails, said?: unknown): boolean {
  return said === undefined || said === null ? trustsEmails[id] : isTrue(said)
}
