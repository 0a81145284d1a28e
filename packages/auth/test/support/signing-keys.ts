import { generateKeyPairSync } from 'node:crypto'

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })

/** A value of AUTH_JWT_KEYS: a key pair, so that clients can verify tokens. */
export const signingKeys = JSON.stringify([
  {
    ...privateKey.export({ format: 'jwk' }),
    kid: 'test',
    alg: 'ES256',
    key_ops: ['sign', 'verify'],
  },
])
