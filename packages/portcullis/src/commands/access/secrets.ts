import { toValueFault } from '@portcullis/service-kit/cli/argument-faults'
import { printItem } from '../admin/output.ts'
import type { Fact } from '../admin/text.ts'
import { parseDays } from './durations.ts'

/** Prints an item with a secret that the server does not return again. */
export function printSecret(
  input: Parameters<typeof printItem>[0],
  item: object,
  facts: readonly Fact[],
): void {
  printItem(input, item, facts)
  if (input.values.json) return
  input.io.stderr.write(
    'The secret is not shown again. Store it in the configuration of the program.\n',
  )
}

const longestOverlapSeconds = 30 * 86_400

export const overlapOption = {
  value: 'DURATION',
  meaning: 'with rotate: how long the previous secret is still accepted, at most 30d; default: 0',
} as const

/** Returns the reason if the value of `--overlap` is invalid. */
export function findOverlapFault(text: string): string | undefined {
  const seconds = toSeconds(text)
  if (seconds >= 0 && seconds <= longestOverlapSeconds) return undefined
  return toValueFault('--overlap', 'a duration from 0 to 30d, such as 24h', text)
}

export function toSeconds(text: string): number {
  return Math.floor((parseDays(text) ?? Number.NaN) / 1_000)
}
