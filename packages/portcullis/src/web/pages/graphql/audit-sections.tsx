import type { JSX } from 'preact'
import type { AuditExchange, AuditRunView } from '../../../console/routes/audits-run.ts'
import { type Level, levels } from './use-audit-run.ts'

interface AuditSectionsProps {
  readonly run: AuditRunView
  readonly search: string
}

type AuditView = AuditRunView['audits'][number]

/** Groups the audits by level; failed audits come first, passed audits are collapsed. */
export function AuditSections({ run, search }: AuditSectionsProps): JSX.Element {
  const wanted = run.audits.filter((audit) => isWanted(run, audit, search.trim().toLowerCase()))
  if (wanted.length === 0) {
    return <p class="muted">No finished audit matches “{search.trim()}”.</p>
  }
  return (
    <>
      {levels.map((level) => (
        <Section
          key={level.name}
          run={run}
          level={level}
          isOpen={search.trim() !== ''}
          audits={wanted.filter((audit) => audit.level === level.name)}
        />
      ))}
    </>
  )
}

interface SectionProps {
  readonly run: AuditRunView
  readonly level: Level
  readonly audits: readonly AuditView[]
  /** Whether the passed audits are expanded. */
  readonly isOpen: boolean
}

function Section({ run, level, audits, isOpen }: SectionProps): JSX.Element | null {
  if (audits.length === 0) return null
  const failed = audits.filter(({ id }) => isFailed(run, id))
  const passed = audits.filter(({ id }) => run.outcomes[id]?.status === 'ok')
  return (
    <section class="stack audit-section" aria-label={level.title}>
      <div>
        <h3>
          {level.title} <span class="muted">({level.name})</span>
        </h3>
        <p class="muted small">{level.intro}</p>
      </div>
      {failed.length > 0 && (
        <ul class="stack tight">
          {failed.map((audit) => (
            <AuditFailure
              key={audit.id}
              id={audit.id}
              name={audit.name}
              tone={level.tone}
              reason={run.outcomes[audit.id]?.reason ?? ''}
              exchange={run.exchanges[audit.id]}
            />
          ))}
        </ul>
      )}
      {passed.length > 0 && (
        <details class="audit-passed" open={isOpen}>
          <summary>{passed.length} passed</summary>
          <ul>
            {passed.map(({ id, name }) => (
              <li key={id}>
                <code>{id}</code>
                <span>{name}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
      {failed.length + passed.length === 0 && (
        <p class="muted small">No audit of this level has finished yet.</p>
      )}
    </section>
  )
}

function isFailed({ outcomes }: AuditRunView, id: string): boolean {
  const outcome = outcomes[id]
  return outcome !== undefined && outcome.status !== 'ok'
}

function isWanted(run: AuditRunView, { id, name }: AuditView, search: string): boolean {
  if (search === '') return true
  const outcome = run.outcomes[id]
  if (outcome === undefined) return false
  const texts = [id, name, outcome.reason ?? '', run.exchanges[id]?.response ?? '']
  return texts.some((text) => text.toLowerCase().includes(search))
}

interface AuditFailureProps {
  readonly id: string
  readonly name: string
  readonly tone: 'danger' | 'warn' | 'accent'
  readonly reason: string
  /** Available once the run has finished. */
  readonly exchange: AuditExchange | undefined
}

function AuditFailure({ id, name, tone, reason, exchange }: AuditFailureProps): JSX.Element {
  return (
    <li class={`audit-failure tone-${tone}`}>
      <div class="audit-name">
        <code>{id}</code>
        <strong>{name}</strong>
      </div>
      <p>{reason}</p>
      {exchange && (
        <details>
          <summary>Request and response ({exchange.status})</summary>
          <div class="grid" style={{ '--least': '18rem' }}>
            <Text title="Sent" text={exchange.request} />
            <Text title="Received" text={exchange.response} />
          </div>
        </details>
      )}
    </li>
  )
}

function Text({ title, text }: { readonly title: string; readonly text: string }): JSX.Element {
  return (
    <div class="stack tight">
      <h4>{title}</h4>
      <pre class="code-block">{text}</pre>
    </div>
  )
}

/** Shows each audit as a small square, coloured by its result. The lists below contain the same data as text. */
export function AuditMatrix({ run }: { readonly run: AuditRunView }): JSX.Element {
  return (
    <div class="audit-matrix" aria-hidden="true">
      {run.audits.map(({ id, name, level }) => (
        <span key={id} title={`${id} ${name}`} class={toTone(run, id, level)} />
      ))}
    </div>
  )
}

function toTone({ outcomes }: AuditRunView, id: string, level: string): string {
  const outcome = outcomes[id]
  if (outcome === undefined) return ''
  if (outcome.status === 'ok') return 'tone-ok'
  return `tone-${levels.find(({ name }) => name === level)?.tone}`
}
