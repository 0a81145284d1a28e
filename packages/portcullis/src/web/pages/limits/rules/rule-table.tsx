import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { LiveCounts, ShownRule } from '../../../../console/routes/limits.ts'
import { Badge, type Tone } from '../../../components/badge.tsx'
import { Button } from '../../../components/button.tsx'
import { Icon } from '../../../components/icons.tsx'
import { formatCount, formatCountOf, formatNumber, formatRate } from '../../../format.ts'
import { toEditorHref } from '../place.ts'
import { type DomainRows, noLiveCounts, type RuleRow, sumCounts, toRuleLabel } from './rule-rows.ts'

interface RuleTableProps {
  readonly domains: readonly DomainRows[]
  readonly counts: Readonly<Record<string, LiveCounts>>
  /** A search expands all domains. */
  readonly isSearching: boolean
  readonly canEdit: boolean
  readonly onPick: (row: RuleRow) => void
  readonly onHistory: (row: RuleRow) => void
  readonly onChange: (row: RuleRow) => void
}

/** Limits the number of rows that the browser has to render. */
const rowsPerPage = 250

export function RuleTable(props: RuleTableProps): JSX.Element {
  const { domains, counts, isSearching } = props
  const [collapsed, setCollapsed] = useState<ReadonlySet<string>>(new Set())
  const [mostRows, setMostRows] = useState(rowsPerPage)
  const toggle = (domain: string) => {
    const others = new Set(collapsed)
    if (!others.delete(domain)) others.add(domain)
    setCollapsed(others)
  }
  let room = mostRows
  let hidden = 0
  const shown = domains.map((each) => {
    const isOpen = isSearching || !collapsed.has(each.domain)
    const rows = isOpen ? each.rows.slice(0, room) : []
    if (isOpen) hidden += each.rows.length - rows.length
    room -= rows.length
    return { ...each, isOpen, shownRows: rows }
  })
  return (
    <>
      <table class="limits-table">
        <caption class="hidden">
          Rules with their counters, in hits since the service started
        </caption>
        <thead>
          <tr>
            <th scope="col">Rule</th>
            <th scope="col" class="limits-share-cell">
              Share
            </th>
            {countColumns.map(({ name, title, meaning }) => (
              <th key={name} scope="col" class="number" title={meaning}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        {shown.map(({ domain, rows, limitCount, isOpen, shownRows }) => (
          <tbody key={domain}>
            <tr class="limits-domain">
              <th scope="rowgroup">
                <button
                  type="button"
                  class="limits-toggle"
                  aria-expanded={isOpen}
                  onClick={() => toggle(domain)}
                >
                  <Icon name="chevron" />
                  {domain}
                </button>
                <span class="limits-tally">{formatCountOf(limitCount, 'limit')}</span>
              </th>
              <CountCells counts={sumCounts(rows, counts)} />
            </tr>
            {shownRows.map((row) => (
              <tr key={row.rule.path} class={row.rule.limit ? undefined : 'bare'}>
                <th scope="row" style={{ '--depth': row.levels.length }}>
                  <RuleName {...props} row={row} />
                </th>
                {row.rule.limit ? (
                  <CountCells counts={counts[row.rule.statisticsKey] ?? noLiveCounts} />
                ) : (
                  <td class="limits-none" colSpan={countColumns.length + 1} />
                )}
              </tr>
            ))}
          </tbody>
        ))}
      </table>
      {hidden > 0 && (
        <div class="limits-more">
          <Button size="small" onClick={() => setMostRows(mostRows + rowsPerPage)}>
            {`Show more (${formatNumber(hidden)} remaining)`}
          </Button>
        </div>
      )}
    </>
  )
}

interface RuleNameProps
  extends Pick<RuleTableProps, 'canEdit' | 'onPick' | 'onHistory' | 'onChange'> {
  readonly row: RuleRow
}

function RuleName({ row, canEdit, onPick, onHistory, onChange }: RuleNameProps): JSX.Element {
  const { rule } = row
  const { place } = rule
  const label = toRuleLabel(rule)
  return (
    <>
      <button
        type="button"
        class="limits-rule mono"
        title="Use this rule in the request form"
        onClick={() => onPick(row)}
      >
        {label}
      </button>
      <div class="limits-facts">
        <span>{rule.limitText || (rule.rules.length > 0 ? 'nested rules only' : 'no limit')}</span>
        {toFlags(rule).map(({ text, tone }) => (
          <Badge key={text} tone={tone}>
            {text}
          </Badge>
        ))}
        <span class="limits-links">
          {canEdit && rule.limit !== undefined && !rule.limit.unlimited && (
            <button
              type="button"
              class="limits-place limits-history"
              aria-label={`Change the limit of ${label}`}
              onClick={() => onChange(row)}
            >
              Change
            </button>
          )}
          {rule.limit !== undefined && (
            <button
              type="button"
              class="limits-place limits-history"
              aria-label={`History of ${label}`}
              onClick={() => onHistory(row)}
            >
              History
            </button>
          )}
          {place && canEdit && (
            <a
              class="limits-place"
              href={toEditorHref(place.file, place.line)}
              aria-label={`Edit ${label} at ${place.file}:${place.line}`}
            >
              {`${place.file}:${place.line}`}
            </a>
          )}
        </span>
      </div>
    </>
  )
}

interface Flag {
  readonly text: string
  readonly tone: Tone | undefined
}

function toFlags({ limit, shadowMode, quotaMode, shareThreshold }: ShownRule): Flag[] {
  const flags: (Flag | false)[] = [
    shadowMode && { text: 'shadow', tone: 'accent' },
    quotaMode && { text: 'quota', tone: 'accent' },
    limit?.algorithm === 'sliding_window' && { text: 'sliding', tone: undefined },
    shareThreshold && { text: 'shared', tone: undefined },
    limit !== undefined && limit.name !== '' && { text: `name: ${limit.name}`, tone: undefined },
    ...(limit?.replaces ?? []).map((name) => ({ text: `replaces ${name}`, tone: undefined })),
  ]
  return flags.filter((flag) => flag !== false)
}

interface CountColumn {
  readonly name: keyof LiveCounts
  readonly title: string
  readonly meaning: string
  /** The tone of values above 0. */
  readonly tone?: 'warn' | 'danger' | 'accent'
}

const countColumns: readonly CountColumn[] = [
  { name: 'total', title: 'Total', meaning: 'All hits' },
  { name: 'within', title: 'Within', meaning: 'Hits within the limit' },
  { name: 'near', title: 'Near', meaning: 'Hits within, but close to, the limit', tone: 'warn' },
  { name: 'over', title: 'Over', meaning: 'Hits over the limit', tone: 'danger' },
  {
    name: 'shadow',
    title: 'Shadow',
    meaning: 'Hits over the limit that were allowed by shadow mode',
    tone: 'accent',
  },
  { name: 'ratePerSecond', title: 'Hits/s', meaning: 'Current hits per second' },
]

function CountCells({ counts }: { readonly counts: LiveCounts }): JSX.Element {
  return (
    <>
      <td class="limits-share-cell" data-title="Share">
        <ShareBar counts={counts} />
      </td>
      {countColumns.map(({ name, title, tone }) => {
        const value = counts[name]
        const names = ['number limits-count', value === 0 ? 'nil' : tone && `tone-${tone}`]
        return (
          <td
            key={name}
            class={names.filter(Boolean).join(' ')}
            data-title={title}
            title={formatNumber(value)}
          >
            {name === 'ratePerSecond' ? formatRate(value) : formatCount(value)}
          </td>
        )
      })}
    </>
  )
}

/** The shares of hits within the limit, near the limit and over the limit. */
function ShareBar({ counts }: { readonly counts: LiveCounts }): JSX.Element {
  const { within, near, over } = counts
  const all = Math.max(1, within + over)
  const toWidth = (part: number) => ({ width: `${(100 * part) / all}%` })
  const toPercent = (part: number) => `${Math.round((100 * part) / all)} %`
  const label =
    within + over === 0
      ? 'No hits yet'
      : `${toPercent(within)} within the limit (${toPercent(near)} near it), ${toPercent(over)} over`
  return (
    <span class="limits-share" role="img" aria-label={label} title={label}>
      <span class="calm" style={toWidth(Math.max(0, within - near))} />
      <span class="near" style={toWidth(Math.min(near, within))} />
      <span class="over" style={toWidth(over)} />
    </span>
  )
}
