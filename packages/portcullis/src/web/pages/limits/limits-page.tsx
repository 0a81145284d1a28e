import type { JSX } from 'preact'
import { useLocation } from 'preact-iso'
import { PageHeader } from '../../components/page-header.tsx'
import { Empty } from '../../components/states.tsx'
import { useSession } from '../../session.ts'
import { FilesView } from './files/files-view.tsx'
import { RulesView } from './rules/rules-view.tsx'
import { TopView } from './top/top-view.tsx'

const summary = 'The rules in force, their counters and their decisions.'

export function Page(): JSX.Element {
  const { ratelimit } = useSession().parts
  const { query } = useLocation()
  if (ratelimit === undefined) {
    return (
      <>
        <PageHeader title="Limits" summary={summary} />
        <Empty icon="limits" title="No rate limit service">
          Start everything with <code>portcullis up</code>, or connect to a running service:{' '}
          <code>portcullis console --ratelimit-debug-url http://localhost:6070</code>
        </Empty>
      </>
    )
  }
  const view = toView(query['view'], ratelimit.canEdit)
  const links = views.filter(({ name }) => name !== 'files' || ratelimit.canEdit)
  return (
    <>
      <PageHeader title="Limits" summary={summary}>
        <ul class="views" aria-label="Views">
          {links.map(({ name, title, href }) => (
            <li key={name}>
              <a href={href} aria-current={name === view ? 'true' : undefined}>
                {title}
              </a>
            </li>
          ))}
        </ul>
      </PageHeader>
      {view === 'files' && <FilesView />}
      {view === 'keys' && <TopView />}
      {view === 'rules' && <RulesView canRequest={ratelimit.url !== undefined} />}
    </>
  )
}

const views = [
  { name: 'rules', title: 'Rules in force', href: '/limits' },
  { name: 'keys', title: 'Top keys', href: '/limits?view=keys' },
  { name: 'files', title: 'Rule files', href: '/limits?view=files' },
] as const

function toView(given: string | undefined, canEdit: boolean): (typeof views)[number]['name'] {
  if (given === 'files' && canEdit) return 'files'
  return given === 'keys' ? 'keys' : 'rules'
}
