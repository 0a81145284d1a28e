import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { SignInFailure } from '../../../console/routes/users-upstream.ts'
import { callApi, isNotFound } from '../../api.ts'
import { formatEventName, toFailureReason } from '../../audit-sentences.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Empty, Failure, Loading } from '../../components/states.tsx'
import { formatNumber, formatTime } from '../../format.ts'
import { useLoaded } from '../../use-loaded.ts'
import { UserViews } from './user-views.tsx'

const pageSize = 50

/** Failed sign-ins, including attempts without an account. */
export function FailuresView(): JSX.Element {
  const [page, setPage] = useState(1)
  const path = `/api/users/sign-in-failures?page=${page}&per_page=${pageSize}`
  const loaded = useLoaded((signal) => callApi<readonly SignInFailure[]>(path, { signal }), [page])
  return (
    <>
      <PageHeader
        title="Users"
        summary="Failed sign-ins, newest first, grouped into ten-minute intervals."
      >
        <UserViews shown="failures" />
        <Button icon="refresh" onClick={loaded.reload}>
          Refresh
        </Button>
      </PageHeader>
      {loaded.state === 'loading' && <Loading />}
      {loaded.state === 'failed' &&
        (isNotFound(loaded.error) ? (
          <Empty icon="users" title="Failed sign-ins are not available">
            This auth server does not record failed sign-ins.
          </Empty>
        ) : (
          <Failure error={loaded.error} onRetry={loaded.reload} />
        ))}
      {loaded.state === 'ready' && (
        <Failures failures={loaded.value} page={page} onPage={setPage} />
      )}
    </>
  )
}

interface FailuresProps {
  readonly failures: readonly SignInFailure[]
  readonly page: number
  readonly onPage: (page: number) => void
}

function Failures({ failures, page, onPage }: FailuresProps): JSX.Element {
  if (failures.length === 0 && page === 1) {
    return (
      <Empty icon="users" title="No failed sign-ins">
        A sign-in that fails appears here with its reason, such as a wrong password.
      </Empty>
    )
  }
  return (
    <Card isFlush>
      {failures.length === 0 ? (
        <Empty icon="users" title="No older failed sign-ins" />
      ) : (
        <FailureTable failures={failures} />
      )}
      {(page > 1 || failures.length === pageSize) && (
        <div class="row failures-pages">
          <Button size="small" isDisabled={page === 1} onClick={() => onPage(page - 1)}>
            Newer
          </Button>
          <Button
            size="small"
            isDisabled={failures.length < pageSize}
            onClick={() => onPage(page + 1)}
          >
            Older
          </Button>
        </div>
      )}
    </Card>
  )
}

function FailureTable({ failures }: Pick<FailuresProps, 'failures'>): JSX.Element {
  return (
    <div class="table-frame">
      <table class="table failures" aria-label="Failed sign-ins">
        <thead>
          <tr>
            <th scope="col">Last attempt</th>
            <th scope="col">Email or phone</th>
            <th scope="col">Reason</th>
            <th scope="col">IP address</th>
            <th scope="col" class="number">
              Attempts
            </th>
          </tr>
        </thead>
        <tbody>
          {failures.map((failure) => (
            <FailureRow key={failure.id} failure={failure} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function FailureRow({ failure }: { readonly failure: SignInFailure }): JSX.Element {
  const { user_id: userId, name, reason, ip_address: ip, count, first_at, last_at } = failure
  return (
    <tr>
      <td class="nowrap" title={`First attempt ${formatTime(first_at)}`}>
        <time dateTime={last_at}>{formatTime(last_at)}</time>
      </td>
      <td class="failures-name">
        {userId === null ? (
          <>
            {formatEventName(name) || <span class="muted">not given</span>}{' '}
            <Badge>No account</Badge>
          </>
        ) : (
          <a href={`/users?id=${userId}&tab=activity`}>
            {formatEventName(name) || userId.slice(0, 8)}
          </a>
        )}
      </td>
      <td class="failures-reason">{toFailureReason(reason)}</td>
      <td class="mono">{ip || '–'}</td>
      <td class="number">{formatNumber(count)}</td>
    </tr>
  )
}
