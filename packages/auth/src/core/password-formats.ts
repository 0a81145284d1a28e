import { createCipheriv, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { verify as verifyArgon2 } from '@node-rs/argon2'
import { hash as hashBcrypt, verify as verifyBcrypt } from '@node-rs/bcrypt'

/** A way to store passwords. */
export interface PasswordFormat {
  /** Whether the hash is one of these, with parameters that are safe to compute. */
  accepts(hash: string): boolean
  verify(password: string, hash: string): Promise<boolean>
  /** Whether the next login should store it anew. */
  isOutdated(hash: string): boolean
}

const bcryptCost = 10
const bcryptPattern = /^\$2[aby]\$(?<cost>\d\d)\$[./A-Za-z0-9]{53}$/
const argonPattern =
  /^\$argon2(?:id|i)\$v=19\$m=(?<memory>\d{1,7}),t=(?<time>\d{1,2}),p=(?<lanes>\d{1,2})\$[A-Za-z0-9+/]+\$[A-Za-z0-9+/]+$/
const firebasePattern =
  /^\$fbscrypt\$v=1,n=(?<n>\d{1,2}),r=(?<r>\d{1,2}),p=(?<p>\d{1,2}),ss=(?<separator>[A-Za-z0-9+/=]*),sk=(?<signer>[A-Za-z0-9+/=]+)\$(?<salt>[A-Za-z0-9+/=]+)\$(?<hash>[A-Za-z0-9+/=]+)$/

/** The first one is written; the others are imported, and written anew at login. */
export const passwordFormats = {
  bcrypt: {
    accepts: (hash) => {
      const cost = Number(bcryptPattern.exec(hash)?.groups?.['cost'])
      return cost >= 4 && cost <= 15
    },
    hash: (password: string) => hashBcrypt(password, { cost: bcryptCost }),
    verify: (password, hash) => verifyBcrypt(password, hash),
    isOutdated: (hash) => {
      const cost = Number(bcryptPattern.exec(hash)?.groups?.['cost'])
      return cost !== bcryptCost
    },
  },
  argon2: {
    accepts: (hash) => {
      const { memory, time, lanes } = argonPattern.exec(hash)?.groups ?? {}
      return Number(memory) <= 2 ** 20 && Number(time) <= 20 && Number(lanes) <= 16
    },
    verify: (password, hash) => verifyArgon2(hash, password),
    isOutdated: () => true,
  },
  firebase: {
    accepts: (hash) => {
      const { n, r, p } = firebasePattern.exec(hash)?.groups ?? {}
      // 128 · N · r bytes: at most 128 MiB.
      return (
        Number(n) >= 1 &&
        Number(n) <= 20 &&
        2 ** Number(n) * Number(r) <= 2 ** 20 &&
        Number(p) <= 16
      )
    },
    verify: verifyFirebase,
    isOutdated: () => true,
  },
} satisfies Readonly<Record<string, PasswordFormat & { hash?: unknown }>>

export function findPasswordFormat(hash: string): PasswordFormat | undefined {
  const formats: readonly PasswordFormat[] = Object.values(passwordFormats)
  return formats.find((format) => format.accepts(hash))
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
