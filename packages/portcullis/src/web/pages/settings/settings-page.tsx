import type { JSX } from 'preact'
import { PageHeader } from '../../components/page-header.tsx'
import { Empty } from '../../components/states.tsx'
import { type Tab, Tabs } from '../../components/tabs.tsx'
import { useSession } from '../../session.ts'
import { usePageLocation } from '../../use-page-location.ts'
import { ProvidersView } from './providers-view.tsx'
import { SettingsView } from './settings-view.tsx'
import { TemplatesView } from './templates/templates-view.tsx'

type ViewName = 'auth' | 'ratelimit' | 'graphql' | 'providers' | 'templates'

const tabs: readonly Tab<ViewName>[] = [
  { name: 'auth', title: 'Auth' },
  { name: 'ratelimit', title: 'Rate limits' },
  { name: 'graphql', title: 'GraphQL API' },
  { name: 'providers', title: 'Providers' },
  { name: 'templates', title: 'Email templates' },
]

export function Page(): JSX.Element {
  const { query, route } = usePageLocation()
  const shown = tabs.find(({ name }) => name === query['tab'])?.name ?? 'auth'
  return (
    <>
      <PageHeader
        title="Settings"
        summary="The configuration that each server uses, and where each value comes from."
      />
      <Tabs
        label="Servers"
        tabs={tabs}
        shown={shown}
        onShow={(name) => route(name === 'auth' ? '/settings' : `/settings?tab=${name}`)}
      >
        <View name={shown} />
      </Tabs>
    </>
  )
}

function View({ name }: { readonly name: ViewName }): JSX.Element {
  const { auth, ratelimit, graphql } = useSession().parts
  if (name === 'ratelimit') {
    return ratelimit ? <SettingsView key={name} server={name} /> : <NoServer {...missing[name]} />
  }
  if (name === 'graphql') {
    return graphql ? <SettingsView key={name} server={name} /> : <NoServer {...missing[name]} />
  }
  if (!auth) return <NoServer {...missing.auth} />
  if (name === 'auth') return <SettingsView key={name} server={name} />
  return name === 'providers' ? <ProvidersView /> : <TemplatesView />
}

interface NoServerProps {
  readonly title: string
  readonly option: string
}

const missing: Readonly<Record<'auth' | 'ratelimit' | 'graphql', NoServerProps>> = {
  auth: { title: 'No auth server', option: '--auth-url http://localhost:8081' },
  ratelimit: {
    title: 'No rate limit service',
    option: '--ratelimit-debug-url http://localhost:6070',
  },
  graphql: { title: 'No GraphQL API', option: '--graphql-url http://localhost:4000/graphql' },
}

function NoServer({ title, option }: NoServerProps): JSX.Element {
  return (
    <Empty icon="settings" title={title}>
      Start everything with <code>portcullis up</code>, or connect to a running server:{' '}
      <code>{`portcullis console ${option}`}</code>
    </Empty>
  )
}
