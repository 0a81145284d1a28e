import { createPublicKey, type KeyObject } from 'node:crypto'
import type { Check } from '@portcullis/service-kit/settings/config-check'
import {
  boolean,
  type Chapter,
  duration,
  hideAll,
  list,
  type Settings,
  string,
} from '@portcullis/service-kit/settings/env'
import { parsePrivateKey } from '../saml/service-provider.ts'
import { noteIfOff, switchableLimit, withOldNames } from './variables.ts'

export const saml = {
  title: 'Single sign-on with SAML',
  variables: withOldNames({
    enabled: boolean(
      'AUTH_SAML_ENABLED',
      false,
      'Whether users can sign in with the SAML 2.0 identity providers of their companies',
    ),
    privateKey: string(
      'AUTH_SAML_PRIVATE_KEY',
      '',
      'RSA key that signs requests and decrypts assertions: PEM, or DER (PKCS #1 or PKCS #8) in Base64',
      { mask: hideAll },
    ),
    privateKeyNext: string(
      'AUTH_SAML_PRIVATE_KEY_NEXT',
      '',
      'The key that will replace it. The metadata already lists it, and it decrypts assertions',
      { mask: hideAll },
    ),
    allowsEncryption: boolean(
      'AUTH_SAML_ALLOW_ENCRYPTED_ASSERTIONS',
      false,
      'Whether identity providers may encrypt assertions for these keys',
    ),
    allowsUnsolicited: boolean(
      'AUTH_SAML_ALLOW_IDP_INITIATED',
      true,
      'Whether users can start at the identity provider. Such a response is not bound to a browser, so ' +
        'an attacker can sign a user in to the account of the attacker',
    ),
    relayStateMs: duration(
      'AUTH_SAML_RELAY_STATE_VALIDITY_PERIOD',
      '2m',
      'How long users have to sign in at the identity provider',
      { bareSeconds: true },
    ),
    externalUrl: string(
      'AUTH_SAML_EXTERNAL_URL',
      '',
      'Public URL of this server in requests and metadata. Identity providers store it, so it must not change',
      { defaultText: 'AUTH_API_EXTERNAL_URL' },
    ),
    metadataHosts: list(
      'AUTH_SAML_METADATA_ALLOWED_HOSTS',
      [],
      'Hosts in the internal network from which the metadata of identity providers may be fetched',
    ),
    assertions: switchableLimit(
      'AUTH_SAML_RATE_LIMIT_ASSERTION',
      15,
      'Requests to /sso/saml/acs per 5 minutes',
    ),
    starts: switchableLimit('AUTH_RATE_LIMIT_SSO', 30, 'Requests to /sso per 5 minutes'),
  }),
} satisfies Chapter

export interface SamlConfig {
  readonly enabled: boolean
  /** Set if enabled. */
  readonly privateKey: KeyObject | undefined
  readonly privateKeyNext: KeyObject | undefined
  readonly allowsEncryption: boolean
  /** Whether the identity provider may start the sign-in. */
  readonly allowsUnsolicited: boolean
  readonly relayStateMs: number
  readonly externalUrl: string
  readonly metadataHosts: readonly string[]
  /** Requests per 5 minutes; 0 disables a limit. */
  readonly assertions: number
  readonly starts: number
}

const defaultRelayStateMs = 120_000

export function toSaml(
  settings: Settings<typeof saml.variables>,
  apiUrl: string,
  check: Check,
): SamlConfig {
  const { variables } = saml
  noteIfOff(variables.assertions, settings.assertions, check)
  noteIfOff(variables.starts, settings.starts, check)
  const { enabled, externalUrl } = settings
  if (enabled && externalUrl !== '' && !/^https?:\/\//.test(URL.parse(externalUrl)?.href ?? '')) {
    check.fault(variables.externalUrl, 'must be a URL such as https://auth.example.com')
  }
  if (settings.relayStateMs < 0) check.fault(variables.relayStateMs, 'must not be negative')
  return {
    ...settings,
    privateKey: enabled ? readKey(variables.privateKey, settings.privateKey, check) : undefined,
    privateKeyNext:
      enabled && settings.privateKeyNext !== ''
        ? readKey(variables.privateKeyNext, settings.privateKeyNext, check)
        : undefined,
    // Supabase Auth has the default for 0, too.
    relayStateMs: settings.relayStateMs || defaultRelayStateMs,
    externalUrl: externalUrl || apiUrl,
  }
}

type KeyVariable = (typeof saml.variables)['privateKey']

function readKey(variable: KeyVariable, text: string, check: Check): KeyObject | undefined {
  if (text === '') {
    check.fault(
      variable,
      'is required if SAML is enabled. Create a key: openssl genrsa -traditional 2048 | openssl rsa -outform DER -traditional | base64 -w 0',
    )
    return undefined
  }
  const key = parsePrivateKey(text)
  if (key === undefined) {
    check.fault(variable, 'must be an RSA private key: PEM, or DER (PKCS #1 or PKCS #8) in Base64')
    return undefined
  }
  const { modulusLength = 0, publicExponent } = createPublicKey(key).asymmetricKeyDetails ?? {}
  if (modulusLength < 2_048) check.fault(variable, 'must have at least 2048 bits')
  if (publicExponent !== 65_537n) check.fault(variable, 'must have the public exponent 65537')
  return key
}
