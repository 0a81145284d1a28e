import type { JSX } from 'preact'
import { useActions } from '../../actions.ts'
import { PageHeader } from '../../components/page-header.tsx'
import { Empty } from '../../components/states.tsx'
import { type Tab, Tabs } from '../../components/tabs.tsx'
import { useSession } from '../../session.ts'
import { ClientsView } from './clients/clients-view.tsx'
import { KeysView } from './keys/keys-view.tsx'
import { ProvidersView } from './providers/providers-view.tsx'
import { SsoView } from './sso/sso-view.tsx'
import { type TabName, useAccessAddress } from './use-access-address.ts'

const tabs: readonly Tab<TabName>[] = [
  { name: 'clients', title: 'OAuth clients' },
  { name: 'providers', title: 'Custom providers' },
  { name: 'sso', title: 'Company sign-in' },
  { name: 'keys', title: 'API keys' },
]

const views = { clients: ClientsView, providers: ProvidersView, sso: SsoView, keys: KeysView }

export function Page(): JSX.Element {
  const { parts } = useSession()
  return (
    <>
      <PageHeader
        title="Access"
        summary="Applications, identity providers and programs that use your accounts."
      />
      {parts.auth ? <AccessTabs /> : <NoAuthServer />}
    </>
  )
}

function NoAuthServer(): JSX.Element {
  return (
    <Empty icon="key" title="No auth server">
      Start everything with <code>portcullis up</code>, or start the console with{' '}
      <code>portcullis console --auth-url URL --auth-key KEY</code>. The key must be a service key
      of the auth server.
    </Empty>
  )
}

function AccessTabs(): JSX.Element {
  const address = useAccessAddress()
  useActions([
    {
      label: 'Register OAuth client',
      icon: 'plus',
      words: 'new add create application',
      run: () => address.open('clients', { new: 'client' }),
    },
    {
      label: 'Add custom provider',
      icon: 'plus',
      words: 'new create oidc oauth openid',
      run: () => address.open('providers', { new: 'provider' }),
    },
    {
      label: 'Add company sign-in',
      icon: 'plus',
      words: 'new create saml sso identity provider',
      run: () => address.open('sso', { new: 'sso' }),
    },
    {
      label: 'Create API key',
      icon: 'plus',
      words: 'new add',
      run: () => address.open('keys', { new: 'key' }),
    },
    {
      label: 'Create service account',
      icon: 'plus',
      words: 'new add',
      run: () => address.open('keys', { new: 'account' }),
    },
  ])
  const View = views[address.tab]
  return (
    <Tabs label="Access" tabs={tabs} shown={address.tab} onShow={(name) => address.open(name)}>
      <View key={address.tab} address={address} />
    </Tabs>
  )
}
