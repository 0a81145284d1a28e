import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { CounterState, CounterTarget } from '../../../../console/routes/limits-keys.ts'
import { callApi } from '../../../api.ts'
import { Badge } from '../../../components/badge.tsx'
import { Button } from '../../../components/button.tsx'
import { Card } from '../../../components/card.tsx'
import { Empty, Failure, Loading } from '../../../components/states.tsx'
import { showSuccess } from '../../../components/toasts.tsx'
import { formatNumber, formatPeriod } from '../../../format.ts'
import { useLoaded } from '../../../use-loaded.ts'
import { KeyLabel, toEntriesText } from '../top/key-label.tsx'

/** The counter of one key, which can be reset. */
export function CounterPanel({
  target,
}: {
  readonly target: CounterTarget | undefined
}): JSX.Element {
  const element = useRef<HTMLElement>(null)
  // In a narrow window the panel is below the list, and a click would seem to have no effect.
  useEffect(() => {
    if (target !== undefined) element.current?.scrollIntoView({ block: 'nearest' })
  }, [target])
  return (
    <aside ref={element} class="limits-decision" aria-label="Counter">
      <Card title="Counter">
        {target === undefined ? (
          <Empty icon="search" title="No key selected">
            Choose a key in the list to see its counter, or to reset it.
          </Empty>
        ) : (
          <Counter key={`${target.domain} ${toEntriesText(target)}`} target={target} />
        )}
      </Card>
    </aside>
  )
}

function toBody({ domain, entries }: CounterTarget): CounterTarget {
  return { domain, entries: entries.map(({ key, value }) => ({ key, value })) }
}

function Counter({ target }: { readonly target: CounterTarget }): JSX.Element {
  const counter = useLoaded(
    (signal) =>
      callApi<CounterState>('/api/limits/counter', {
        method: 'POST',
        body: toBody(target),
        signal,
      }),
    [],
  )
  const { reload } = counter
  // Without a confirmation: the key only gets its limit again, as it does at the end of each window.
  const reset = async () => {
    const body = toBody(target)
    await callApi<CounterState>('/api/limits/counter/reset', { method: 'POST', body })
    showSuccess('The counter was reset.')
    await reload()
  }
  if (counter.state === 'loading') return <Loading>Reading the counter…</Loading>
  if (counter.state === 'failed') return <Failure error={counter.error} onRetry={reload} />
  return (
    <div class="stack">
      <CounterFacts state={counter.value} />
      <div class="row tight">
        <Button size="small" icon="refresh" onClick={reload}>
          Refresh
        </Button>
        <Button size="small" kind="danger" onClick={reset}>
          Reset counter
        </Button>
      </div>
    </div>
  )
}

function CounterFacts({ state }: { readonly state: CounterState }): JSX.Element {
  const { hits, limit, remaining, isOver, resetSeconds, windowStart, windowSeconds } = state
  const windowEnd = (windowStart + windowSeconds) * 1000
  return (
    <dl class="limits-counter">
      <div>
        <dt>Key</dt>
        <dd>
          <KeyLabel {...state} />
        </dd>
      </div>
      <div>
        <dt>Rule</dt>
        <dd>
          <span class="mono">{state.rule}</span>, {state.limitText}
          {state.algorithm === 'sliding_window' && ', sliding window'}
        </dd>
      </div>
      <div>
        <dt>Hits</dt>
        <dd>
          <strong>{formatNumber(hits)}</strong> of {formatNumber(limit)}{' '}
          <Badge tone={isOver ? 'danger' : 'ok'}>
            {isOver ? 'Limit reached' : `${formatNumber(remaining)} left`}
          </Badge>{' '}
          {state.shadowMode && <Badge tone="accent">shadow</Badge>}
          {state.quotaMode && <Badge tone="accent">quota</Badge>}
        </dd>
      </div>
      <div>
        <dt>Window</dt>
        <dd>{formatPeriod(windowStart * 1000, windowEnd)}</dd>
      </div>
      <div>
        <dt>Resets in</dt>
        <dd>{toDuration(resetSeconds)}</dd>
      </div>
      <div>
        <dt>Store</dt>
        <dd>
          {state.store}, <span class="mono limits-key">{state.key}</span>
        </dd>
      </div>
    </dl>
  )
}

/** Such as `2 h 5 min`. */
function toDuration(seconds: number): string {
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ] as const
  const first = Math.max(
    0,
    parts.findIndex(([count]) => count > 0),
  )
  return parts
    .slice(first, first + 2)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ')
}
