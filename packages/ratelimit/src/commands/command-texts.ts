import { toReason } from '@portcullis/service-kit/text/reason'

/** The message for a folder of rules or tests that cannot be read. */
export function toUnreadable(directory: string, error: unknown): string {
  return `The folder ${directory} cannot be read: ${toReason(error)}\n`
}

/** The name of a flag as it was typed, without a value after `=`. */
export function toFlag(argument: string): string {
  return argument.replace(/=.*$/s, '')
}

/** The expected value of `-descriptors`. */
export const descriptorSyntax = 'KEY=VALUE, or several of these separated by commas'
