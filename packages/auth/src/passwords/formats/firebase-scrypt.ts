import { createCipheriv, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import type { PasswordFormat } from './password-format.ts'

const pattern =
  /^\$fbscrypt\$v=1,n=(?<n>\d{1,2}),r=(?<r>\d{1,2}),p=(?<p>\d{1,2}),ss=(?<separator>[A-Za-z0-9+/=]*),sk=(?<signer>[A-Za-z0-9+/=]+)\$(?<salt>[A-Za-z0-9+/=]+)\$(?<hash>[A-Za-z0-9+/=]+)$/

export const firebaseScrypt: PasswordFormat = {
  names: ['Firebase scrypt'],
  example: 'Firebase scrypt ($fbscrypt$v=1,…)',
  accepts: (hash) => {
    const { n, r, p } = pattern.exec(hash)?.groups ?? {}
    // Memory is 128 · N · r bytes; at most 128 MiB.
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

const deriveKey = promisify<string, Buffer, number, object, Buffer>(scrypt)

/** Firebase encrypts the key of the project with a key derived from the password. */
async function verifyFirebase(password: string, hash: string): Promise<boolean> {
  const {
    n,
    r,
    p,
    separator = '',
    signer = '',
    salt = '',
    hash: expected = '',
  } = pattern.exec(hash)?.groups ?? {}
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
