import type { Passwords } from '../passwords/passwords.ts'
import type { Hashing, Telemetry } from './telemetry.ts'

/** Passwords that are hashed and checked, counted: more submitted than completed is a queue. */
export function countPasswords(
  passwords: Passwords,
  { countHashing }: Pick<Telemetry, 'countHashing'>,
): Passwords {
  const counted = async <Result>(kind: Hashing, work: () => Promise<Result>): Promise<Result> => {
    countHashing(kind, 'submitted')
    try {
      return await work()
    } finally {
      countHashing(kind, 'completed')
    }
  }
  return {
    ...passwords,
    hash: (password) => counted('hash_password', () => passwords.hash(password)),
    check: (password, hash) =>
      counted('compare_hash_and_password', () => passwords.check(password, hash)),
  }
}
