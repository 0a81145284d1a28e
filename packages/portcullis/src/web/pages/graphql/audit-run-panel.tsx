import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { AuditRunSummary, AuditRunView } from '../../../console/routes/audits-run.ts'
import { Card } from '../../components/card.tsx'
import { Notice, type NoticeProps } from '../../components/states.tsx'
import { formatAge } from '../../format.ts'
import { AuditMatrix, AuditSections } from './audit-sections.tsx'
import { countLevel, levels } from './use-audit-run.ts'

interface AuditRunPanelProps {
  readonly run: AuditRunView
  readonly earlier: readonly AuditRunSummary[]
  readonly onShow: (id: string) => unknown
}

/** Shows the progress and the results of a run. */
export function AuditRunPanel({ run, earlier, onShow }: AuditRunPanelProps): JSX.Element {
  const [search, setSearch] = useState('')
  const done = Object.keys(run.outcomes).length
  return (
    <Card title="Report" actions={<Actions run={run} earlier={earlier} onShow={onShow} />}>
      <div class="stack">
        <div class="audit-subject">
          <span class="mono">{run.url}</span>
          <span class="muted small">
            {run.profile === '2026' ? 'Draft of August 2026' : 'Classic'} status codes
            {run.extended && ', with stricter audits'} · started {formatAge(run.startedAt)}
          </span>
        </div>
        <div aria-live="polite">
          <Verdict run={run} done={done} />
        </div>
        {run.state !== 'done' && (
          <div class="audit-bar">
            <progress max={run.audits.length} value={done} aria-label="Finished audits" />
            <span class="number nowrap">
              {done} of {run.audits.length}
            </span>
          </div>
        )}
        <div class="grid" style={{ '--least': '11rem' }}>
          {levels.map((level) => (
            <LevelFigure key={level.name} run={run} level={level} />
          ))}
        </div>
        <AuditMatrix run={run} />
        <input
          class="input"
          type="search"
          aria-label="Filter audits"
          placeholder="Filter by text, status code or ID…"
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
        <AuditSections run={run} search={search} />
      </div>
    </Card>
  )
}

function Actions({ run, earlier, onShow }: AuditRunPanelProps): JSX.Element {
  return (
    <>
      {earlier.length > 1 && (
        <select
          class="input audit-earlier"
          aria-label="Run to show"
          value={run.id}
          onChange={(event) => onShow(event.currentTarget.value)}
        >
          {earlier.map(({ id, url, startedAt, profile }) => (
            <option key={id} value={id}>
              {formatAge(startedAt)}: {url} ({profile})
            </option>
          ))}
        </select>
      )}
      {run.state === 'done' && (
        <>
          <a
            class="button small"
            href={`/api/audits/${run.id}/report.html`}
            target="_blank"
            rel="noreferrer"
          >
            Open report
          </a>
          <a class="button small" href={`/api/audits/${run.id}/report.json`} download>
            Download JSON
          </a>
        </>
      )}
    </>
  )
}

interface VerdictTexts {
  readonly tone?: NoticeProps['tone']
  readonly title: string
  readonly text: string
}

function Verdict({
  run,
  done,
}: {
  readonly run: AuditRunView
  readonly done: number
}): JSX.Element {
  const { tone, title, text } = toVerdict(run, done)
  return (
    <Notice {...(tone && { tone })} title={title}>
      {text}
    </Notice>
  )
}

function toVerdict(run: AuditRunView, done: number): VerdictTexts {
  const { state, message = '' } = run
  const must = countLevel(run, 'MUST')
  const failed = Object.values(run.outcomes).filter(({ status }) => status !== 'ok').length
  if (state === 'running') return { tone: 'accent', title: 'Running.', text: toSoFar(failed) }
  if (state === 'stopped') {
    return { title: 'Stopped', text: `after ${done} of ${run.audits.length}. ${toSoFar(failed)}` }
  }
  if (state === 'failed') return { tone: 'danger', title: 'Aborted.', text: message }
  if (must.failed > 0) {
    const text = `${must.failed} of ${must.total} requirements ${must.failed === 1 ? 'is' : 'are'} not met.`
    return { tone: 'danger', title: 'Does not comply.', text }
  }
  if (failed > 0) {
    const text = `Every requirement is met; ${failed} ${failed === 1 ? 'recommendation is' : 'recommendations are'} not.`
    return { tone: 'warn', title: 'Complies.', text }
  }
  return { tone: 'ok', title: 'Complies in full.', text: `All ${done} audits pass.` }
}

function toSoFar(failed: number): string {
  return failed === 0 ? 'No failures so far.' : `${failed} failed so far.`
}

function LevelFigure({
  run,
  level,
}: {
  readonly run: AuditRunView
  readonly level: (typeof levels)[number]
}): JSX.Element {
  const { passed, failed, total } = countLevel(run, level.name)
  const tone = failed > 0 ? `tone-${level.tone}` : passed === total ? 'tone-ok' : ''
  return (
    <div class={`audit-level ${tone}`}>
      <span class="small muted">
        <strong>{level.name}</strong> {level.title}
      </span>
      <span class="figure-value">
        {passed}
        <span class="unit">of {total} pass</span>
      </span>
      <span class="small audit-failed">{failed > 0 ? `${failed} failed` : '\u00a0'}</span>
    </div>
  )
}
