import type { JSX } from 'preact'
import { ApiError } from '../../api.ts'
import { Empty, Failure, Loading } from '../../components/states.tsx'
import type { Loaded } from '../../use-loaded.ts'

/** A feature of the auth server that a setting switches on. */
export interface Feature {
  /** Such as `The OAuth server`. */
  readonly name: string
  /** The settings that switch it on. */
  readonly settings: readonly string[]
  /** Prints the value of the last setting. */
  readonly command?: string
}

export const features = {
  oauthServer: { name: 'The OAuth server', settings: ['AUTH_OAUTH_SERVER_ENABLED=true'] },
  customProviders: {
    name: 'The registration of custom providers',
    settings: ['AUTH_CUSTOM_OAUTH_ENABLED=true'],
  },
  companySignIn: {
    name: 'Company sign-in with SAML',
    settings: ['AUTH_SAML_ENABLED=true', 'AUTH_SAML_PRIVATE_KEY'],
    command:
      'openssl genrsa -traditional 2048 | openssl rsa -traditional -outform DER | base64 -w 0',
  },
  apiKeys: { name: 'The list of API keys', settings: [] },
} as const satisfies Readonly<Record<string, Feature>>

interface FeatureStateProps<Value> {
  readonly feature: Feature
  readonly loaded: Loaded<Value> & { readonly reload: () => unknown }
  readonly children: (value: Value) => JSX.Element
}

const switchedOff: readonly string[] = ['feature_disabled', 'saml_provider_disabled']

/** Shows the content, or why there is none. */
export function FeatureState<Value>(props: FeatureStateProps<Value>): JSX.Element {
  const { feature, loaded, children } = props
  if (loaded.state === 'ready') return children(loaded.value)
  if (loaded.state === 'loading') return <Loading />
  const { error } = loaded
  if (error instanceof ApiError && switchedOff.includes(error.code)) {
    return <SwitchedOff feature={feature} />
  }
  if (error instanceof ApiError && error.status === 404 && !error.code.endsWith('_not_found')) {
    return (
      <Empty icon="key" title="Not available">
        {feature.name} is not a feature of this auth server, or of its version.
      </Empty>
    )
  }
  return <Failure error={error} onRetry={loaded.reload} />
}

function SwitchedOff({ feature }: { readonly feature: Feature }): JSX.Element {
  return (
    <Empty icon="key" title={`${feature.name} is switched off`}>
      Set{' '}
      {feature.settings.map((setting, index) => (
        <>
          {index > 0 && ' and '}
          <code>{setting}</code>
        </>
      ))}{' '}
      in the environment of the auth server, and restart it. With <code>portcullis up</code>, use
      the file <code>.env</code> in the data folder.
      {feature.command !== undefined && (
        <>
          {' '}
          This command creates the key: <code>{feature.command}</code>
        </>
      )}
    </Empty>
  )
}
