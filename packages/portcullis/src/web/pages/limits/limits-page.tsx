import type { JSX } from 'preact'
import { useLocation } from 'preact-iso'
import { PageHeader } from '../../components/page-header.tsx'
import { Empty } from '../../components/states.tsx'
import { useSession } from '../../session.ts'
import { FilesView } from './files/files-view.tsx'
import { RulesView } from './rules/rules-view.tsx'

const summary = 'Which rules are in force, what they count, and how they decide.'

export function Page(): JSX.Element {
  const { ratelimit } = useSession().parts
  const { query } = useLocation()
  if (ratelimit === undefined) {
    return (
      <>
        <PageHeader title="Limits" summary={summary} />
        <Empty icon="limits" title="There is no rate limit service here">
          Start everything with <code>portcullis up</code>, or name a running one:{' '}
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
      {isEditing ? <FilesView /> : <RulesView canAsk={ratelimit.url !== undefined} />}
    </>
  )
}
