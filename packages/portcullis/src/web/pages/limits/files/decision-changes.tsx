import type { JSX } from 'preact'
import type { DraftReview } from '../../../../console/routes/limits.ts'
import { Badge } from '../../../components/badge.tsx'
import { Notice } from '../../../components/states.tsx'
import { formatClock, formatCountOf } from '../../../format.ts'

type Comparison = NonNullable<DraftReview['comparison']>
type Change = Comparison['changes'][number]

/** The result of replaying the recorded requests with a draft. */
export function DecisionChanges({ comparison }: { readonly comparison: Comparison }): JSX.Element {
  const { changed, changes, otherChanges, undecided } = comparison
  return (
    <>
      <Notice tone={changed === 0 ? 'ok' : 'warn'} title={toTitle(comparison)}>
        {toSummary(comparison)}
      </Notice>
      {changes.length > 0 && (
        <div class="table-frame limits-changes">
          <table class="table">
            <thead>
              <tr>
                <th scope="col">Descriptor</th>
                <th scope="col">Now</th>
                <th scope="col">With this change</th>
                <th scope="col" class="number">
                  Requests
                </th>
              </tr>
            </thead>
            <tbody>
              {changes.map((change) => (
                <ChangeRow key={JSON.stringify(change)} change={change} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      <p class="muted small">
        {otherChanges > 0 && `${formatCount(otherChanges)} further changes are not listed. `}
        {undecided > 0 && `${formatCount(undecided)} requests could not be replayed. `}
        Both replays start with empty counters, because the counters at the first request are
        unknown.
      </p>
    </>
  )
}

function ChangeRow({ change }: { readonly change: Change }): JSX.Element {
  const { domain, entries, before, after, requests } = change
  return (
    <tr>
      <td class="mono">
        <span class="muted">{domain}</span>{' '}
        {entries.map(({ key, value }) => `${key}=${value}`).join(', ')}
      </td>
      <td data-title="Now">
        <Decision decision={before} />
      </td>
      <td data-title="With this change">
        <Decision decision={after} />
      </td>
      <td class="number" data-title="Requests">
        {formatCount(requests)}
      </td>
    </tr>
  )
}

function Decision({ decision }: { readonly decision: Change['before'] }): JSX.Element {
  const { code, limit } = decision
  return (
    <span class="row tight">
      <Badge tone={code === 'OK' ? 'ok' : 'danger'}>{code === 'OK' ? 'Allowed' : 'Refused'}</Badge>
      <span class="small">{limit ?? 'no limit'}</span>
    </span>
  )
}

function toTitle({ changed }: Comparison): string {
  if (changed === 0) return 'No request would be decided differently.'
  return `${formatCountOf(changed, 'request')} would be decided differently.`
}

function toSummary(comparison: Comparison): string {
  const { requests, refusedBefore, refusedAfter, firstMs = 0, lastMs = 0 } = comparison
  return (
    `Of the latest ${formatCountOf(requests, 'request')} (${formatClock(firstMs)} to ${formatClock(lastMs)}), the rules on disk refuse ` +
    `${formatCount(refusedBefore)} and this draft refuses ${formatCount(refusedAfter)}.`
  )
}

function formatCount(count: number): string {
  return count.toLocaleString('en-US')
}
