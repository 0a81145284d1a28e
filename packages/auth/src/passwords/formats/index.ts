import { argon2id } from './argon2.ts'
import { bcrypt } from './bcrypt.ts'
import { firebaseScrypt } from './firebase-scrypt.ts'
import type { PasswordFormat, WrittenFormat } from './password-format.ts'

/** All formats that can be imported. Formats with `hash` can also be used for new passwords. */
const formats = { bcrypt, argon2id, firebaseScrypt } satisfies Record<string, PasswordFormat>

export type WrittenFormatName = {
  [Name in keyof typeof formats]: (typeof formats)[Name] extends WrittenFormat ? Name : never
}[keyof typeof formats]

/** The values of AUTH_PASSWORD_HASH. Hashes in another format are replaced at the next sign-in. */
export const writtenFormats = Object.fromEntries(
  Object.entries(formats).filter(([, format]) => 'hash' in format),
) as Readonly<Record<WrittenFormatName, WrittenFormat>>

export const writtenFormatNames = Object.keys(writtenFormats) as WrittenFormatName[]

const all: readonly PasswordFormat[] = Object.values(formats)

export function findPasswordFormat(hash: string): PasswordFormat | undefined {
  return all.find((format) => format.accepts(hash))
}

/** For the description of the API. */
export const formatNames = toAlternatives(
  all.flatMap(({ names }) => names),
  ' or ',
)

/** For error messages: the prefixes of the hashes. */
export const formatExamples = toAlternatives(
  all.map(({ example }) => example),
  ', or ',
)

function toAlternatives(texts: readonly string[], last: string): string {
  return [texts.slice(0, -1).join(', '), ...texts.slice(-1)].join(last)
}
