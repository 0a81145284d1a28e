import { createCipheriv, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { hash as hashArgon2, verify as verifyArgon2 } from '@node-rs/argon2'
import { hash as hashBcrypt, verify as verifyBcrypt } from '@node-rs/bcrypt'
import { createUnusableArgon2, createUnusableBcrypt } from './unusable-hash.ts'

/** A way to store passwords. */
export interface PasswordFormat {
  /** Whether the hash is one of these, with parameters that are safe to compute. */
  accepts(hash: string): boolean
  verify(password: string, hash: string): Promise<boolean>
}

/** One that new passwords may be stored in. */
export interface WrittenFormat extends PasswordFormat {
  hash(password: string): Promise<string>
  /** Whether a hash has the parameters of those that are written today. */
  isCurrent(hash: string): boolean
  /** The hash of no password at all. To check one against it costs what it always costs. */
  createUnusable(): string
}

const bcryptPattern = /^\$2[aby]\$(?<cost>\d\d)\$[./A-Za-z0-9]{53}$/
const argonPattern =
  /^\$argon2(?:id|i)\$v=19\$m=(?<memory>\d{1,7}),t=(?<time>\d{1,2}),p=(?<lanes>\d{1,2})\$(?<salt>[A-Za-z0-9+/]+)\$(?<hash>[A-Za-z0-9+/]+)$/
const firebasePattern =
  /^\$fbscrypt\$v=1,n=(?<n>\d{1,2}),r=(?<r>\d{1,2}),p=(?<p>\d{1,2}),ss=(?<separator>[A-Za-z0-9+/=]*),sk=(?<signer>[A-Za-z0-9+/=]+)\$(?<salt>[A-Za-z0-9+/=]+)\$(?<hash>[A-Za-z0-9+/=]+)$/

/** What OWASP recommends at the least: 19 MiB, two passes, one lane. */
const argonCost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
const argonPrefix = `$argon2id$v=19$m=${argonCost.memoryCost},t=${argonCost.timeCost},p=${argonCost.parallelism}$`

/** @param cost each step doubles the work. */
export function createBcrypt(cost: number): WrittenFormat {
  return {
    accepts: (hash) => {
      const found = readBcryptCost(hash)
      return found >= 4 && found <= 15
    },
    verify: (password, hash) => verifyBcrypt(password, hash),
    hash: (password) => hashBcrypt(password, { cost }),
    // Stricter than reference 12.5: a cost of 5 to 9 is raised as well.
    isCurrent: (hash) => readBcryptCost(hash) === cost,
    createUnusable: () => createUnusableBcrypt(cost),
  }
}

const bcrypt = createBcrypt(10)

const argon2: WrittenFormat = {
  accepts: (text) => {
    const { memory, time, lanes, salt = '', hash = '' } = argonPattern.exec(text)?.groups ?? {}
    const [m, t, p] = [Number(memory), Number(time), Number(lanes)]
    // The lower bounds are those of RFC 9106: without them a login would fail and not just be wrong.
    return (
      p >= 1 &&
      p <= 16 &&
      t >= 1 &&
      t <= 20 &&
      m >= 8 * p &&
      m <= 2 ** 20 &&
      countBytes(salt) >= 8 &&
      countBytes(hash) >= 4
    )
  },
  verify: (password, hash) => verifyArgon2(hash, password),
  hash: (password) => hashArgon2(password, argonCost),
  isCurrent: (hash) => hash.startsWith(argonPrefix),
  createUnusable: () => createUnusableArgon2(argonPrefix),
}

const firebase: PasswordFormat = {
  accepts: (hash) => {
    const { n, r, p } = firebasePattern.exec(hash)?.groups ?? {}
    // 128 · N · r bytes: at most 128 MiB.
    return (
      Number(n) >= 1 &&
      Number(n) <= 20 &&
      Number(r) >= 1 &&
      2 ** Number(n) * Number(r) <= 2 ** 20 &&
      Number(p) >= 1 &&
      Number(p) <= 16
    )
  },
  verify: verifyFirebase,
}

/** By AUTH_PASSWORD_HASH. */
export const writtenFormats = { bcrypt, argon2id: argon2 } as const
export type WrittenFormatName = keyof typeof writtenFormats

/** What may be imported; all but that which is written are written anew at login. */
const formats: readonly PasswordFormat[] = [bcrypt, argon2, firebase]

export function findPasswordFormat(hash: string): PasswordFormat | undefined {
  return formats.find((format) => format.accepts(hash))
}

function readBcryptCost(hash: string): number {
  return Number(bcryptPattern.exec(hash)?.groups?.['cost'])
}

/** NaN where it is not exactly what an encoder writes. */
function countBytes(text: string): number {
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64').replaceAll('=', '') === text ? bytes.length : Number.NaN
}

const deriveKey = promisify<string, Buffer, number, object, Buffer>(scrypt)

/** Firebase encrypts a key of the project with a key made from the password. */
async function verifyFirebase(password: string, hash: string): Promise<boolean> {
  const {
    n,
    r,
    p,
    separator = '',
    signer = '',
    salt = '',
    hash: expected = '',
  } = firebasePattern.exec(hash)?.groups ?? {}
  const saltBytes = Buffer.concat([Buffer.from(salt, 'base64'), Buffer.from(separator, 'base64')])
  const N = 2 ** Number(n)
  const key = await deriveKey(password, saltBytes, 32, {
    N,
    r: Number(r),
    p: Number(p),
    maxmem: 256 * N * Number(r) + 2 ** 20,
  })
  const cipher = createCipheriv('aes-256-ctr', key, Buffer.alloc(16))
  const actual = Buffer.concat([cipher.update(Buffer.from(signer, 'base64')), cipher.final()])
  const wanted = Buffer.from(expected, 'base64')
  return actual.length === wanted.length && timingSafeEqual(actual, wanted)
}
