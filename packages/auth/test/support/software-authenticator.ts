import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

/** The options of a browser that an authenticator uses. */
export interface CreationOptions {
  readonly challenge: string
  readonly user: { readonly id: string }
}

export interface RequestOptions {
  readonly challenge: string
  readonly allowCredentials?: readonly { readonly id: string }[]
}

/** Wrong values to send instead of the correct ones. */
export interface Overrides {
  readonly origin?: string
  readonly rpId?: string
  readonly challenge?: string
  readonly type?: string
  readonly counter?: number
  readonly flags?: number
  readonly userHandle?: string
  /** Changes the signature before it is sent. */
  readonly alterSignature?: (signature: Buffer) => Buffer
}

export interface Credential {
  readonly id: string
  readonly userHandle: string
  readonly privateKey: KeyObject
  counter: number
}

const flagBits = { present: 1, verified: 4, syncable: 8, backedUp: 16, attested: 64 }
const unknownModel = '00000000-0000-0000-0000-000000000000'

export interface AuthenticatorSettings {
  readonly rpId: string
  readonly origin: string
  readonly aaguid?: string
  /** Whether it counts signatures; synchronized passkeys do not. */
  readonly counts?: boolean
  readonly isSyncable?: boolean
}

/** A browser with a WebAuthn authenticator: P-256 keys, attestation `none`. */
export function createAuthenticator(settings: AuthenticatorSettings) {
  const { rpId, origin, aaguid = unknownModel, counts = true, isSyncable = false } = settings
  const keys: Credential[] = []
  const kept = isSyncable ? flagBits.syncable | flagBits.backedUp : 0
  const present = flagBits.present | flagBits.verified | kept

  const toClientData = (type: string, challenge: string, overrides: Overrides) =>
    Buffer.from(
      JSON.stringify({
        type: overrides.type ?? type,
        challenge: overrides.challenge ?? challenge,
        origin: overrides.origin ?? origin,
        crossOrigin: false,
      }),
    )
  const toHead = (flags: number, counter: number, overrides: Overrides) => {
    const head = Buffer.alloc(37)
    hash(overrides.rpId ?? rpId).copy(head)
    head[32] = flags
    head.writeUInt32BE(counter, 33)
    return head
  }

  return {
    keys,

    /** Implements `navigator.credentials.create`. */
    create(options: CreationOptions, overrides: Overrides & { readonly id?: string } = {}) {
      const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      const id = overrides.id ?? randomBytes(32).toString('base64url')
      const key: Credential = { id, userHandle: options.user.id, privateKey, counter: 0 }
      keys.push(key)
      const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
      const cose = toMap([
        [toInteger(1), toInteger(2)],
        [toInteger(3), toInteger(-7)],
        [toInteger(-1), toInteger(1)],
        [toInteger(-2), toByteString(Buffer.from(x, 'base64url'))],
        [toInteger(-3), toByteString(Buffer.from(y, 'base64url'))],
      ])
      const idBytes = Buffer.from(id, 'base64url')
      const idLength = Buffer.alloc(2)
      idLength.writeUInt16BE(idBytes.length)
      const flags = overrides.flags ?? present
      const authData = Buffer.concat([
        toHead(flags | flagBits.attested, overrides.counter ?? key.counter, overrides),
        Buffer.from(aaguid.replaceAll('-', ''), 'hex'),
        idLength,
        idBytes,
        cose,
      ])
      const attestationObject = toMap([
        [toTextString('fmt'), toTextString('none')],
        [toTextString('attStmt'), toMap([])],
        [toTextString('authData'), toByteString(authData)],
      ])
      return {
        ...toCredential(id),
        response: {
          clientDataJSON: encode(toClientData('webauthn.create', options.challenge, overrides)),
          attestationObject: encode(attestationObject),
          transports: ['internal'],
        },
      }
    },

    /**
     * Implements `navigator.credentials.get`.
     * @param key the key to use; default: the last one.
     */
    get(
      options: RequestOptions,
      overrides: Overrides = {},
      key: Credential | undefined = keys.at(-1),
    ) {
      if (key === undefined) throw new Error('The authenticator has no key')
      if (counts) key.counter += 1
      const authData = toHead(
        overrides.flags ?? present,
        overrides.counter ?? key.counter,
        overrides,
      )
      const clientData = toClientData('webauthn.get', options.challenge, overrides)
      const signature = sign('sha256', Buffer.concat([authData, hash(clientData)]), key.privateKey)
      return {
        ...toCredential(key.id),
        response: {
          clientDataJSON: encode(clientData),
          authenticatorData: encode(authData),
          signature: encode(overrides.alterSignature?.(signature) ?? signature),
          userHandle: overrides.userHandle ?? key.userHandle,
        },
      }
    },
  }
}
export type SoftwareAuthenticator = ReturnType<typeof createAuthenticator>

function toCredential(id: string) {
  return { id, rawId: id, type: 'public-key', clientExtensionResults: {} }
}

function hash(data: string | Buffer): Buffer {
  return createHash('sha256').update(data).digest()
}

function encode(bytes: Buffer): string {
  return bytes.toString('base64url')
}

// A minimal CBOR encoder (RFC 8949).

function toHeader(major: number, value: number): Buffer {
  const kind = major << 5
  if (value < 24) return Buffer.from([kind | value])
  if (value < 256) return Buffer.from([kind | 24, value])
  return Buffer.from([kind | 25, value >> 8, value & 255])
}

function toInteger(value: number): Buffer {
  return value < 0 ? toHeader(1, -1 - value) : toHeader(0, value)
}

function toByteString(bytes: Buffer): Buffer {
  return Buffer.concat([toHeader(2, bytes.length), bytes])
}

function toTextString(text: string): Buffer {
  return Buffer.concat([toHeader(3, Buffer.byteLength(text)), Buffer.from(text)])
}

function toMap(entries: readonly (readonly [key: Buffer, value: Buffer])[]): Buffer {
  return Buffer.concat([toHeader(5, entries.length), ...entries.flat()])
}
