import type { JSX } from 'preact'
import { useLocation } from 'preact-iso'
import { PageHeader } from '../../components/page-header.tsx'
import { Empty } from '../../components/states.tsx'
import { useSession } from '../../session.ts'
import { FilesView } from './files/files-view.tsx'
import { RulesView } from './rules/rules-view.tsx'

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
  const isEditing = ratelimit.canEdit && query['view'] === 'files'
  return (
    <>
      <PageHeader title="Limits" summary={summary}>
        {ratelimit.canEdit && (
          <ul class="views" aria-label="Views">
            <li>
              <a href="/limits" aria-current={isEditing ? undefined : 'true'}>
                Rules in force
              </a>
            </li>
            <li>
              <a href="/limits?view=files" aria-current={isEditing ? 'true' : undefined}>
                Rule files
              </a>
            </li>
          </ul>
        )}
      </PageHeader>
      {isEditing ? <FilesView /> : <RulesView canRequest={ratelimit.url !== undefined} />}
    </>
  )
}
