import type { ComponentChildren, JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { SearchField } from '../../components/search-field.tsx'
import { Empty } from '../../components/states.tsx'
import { formatNumber } from '../../format.ts'

export interface Column<Item> {
  readonly title: string
  readonly class?: string
  readonly cell: (item: Item) => ComponentChildren
}

interface ItemListProps<Item> {
  readonly title: string
  /** Such as `clients`. */
  readonly plural: string
  readonly items: readonly Item[]
  readonly columns: readonly Column<Item>[]
  readonly toKey: (item: Item) => string
  /** The text that the search looks in. */
  readonly toText: (item: Item) => string
  readonly search: string
  readonly onSearch: (search: string) => void
  readonly actions: ComponentChildren
  /** Shown if there are no items. */
  readonly empty: JSX.Element
  /** Shown below the list. */
  readonly children?: ComponentChildren
}

/** More rows would make the page slow. */
const atOnce = 100

/** A list with a search. */
export function ItemList<Item>(props: ItemListProps<Item>): JSX.Element {
  const { title, plural, items, columns, toKey, toText, search, onSearch, children } = props
  const [most, setMost] = useState(atOnce)
  const words = search.toLowerCase().split(/\s+/)
  const found = items.filter((item) => {
    const text = toText(item).toLowerCase()
    return words.every((word) => text.includes(word))
  })
  const hasSearch = items.length > 0 || search !== ''
  return (
    <Card
      title={title}
      isFlush
      actions={
        <>
          {hasSearch && (
            <SearchField
              text={search}
              label={`Search ${plural}`}
              placeholder={`Search ${plural}`}
              pauseMs={100}
              class="access-search"
              onSearch={onSearch}
            />
          )}
          {props.actions}
        </>
      }
    >
      {items.length === 0 && props.empty}
      {items.length > 0 && found.length === 0 && (
        <Empty icon="search" title={`No matching ${plural}`}>
          {`Nothing matches “${search}”.`}
        </Empty>
      )}
      {found.length > 0 && (
        <div class="table-frame">
          <table class="table access-table" aria-label={title}>
            <thead>
              <tr>
                {columns.map((column) => (
                  <th key={column.title} scope="col">
                    {column.title || <span class="hidden">Actions</span>}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {found.slice(0, most).map((item) => (
                <tr key={toKey(item)}>
                  {columns.map((column) => (
                    <td key={column.title} class={column.class} data-title={column.title}>
                      {column.cell(item)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {found.length > most && (
        <div class="access-more">
          <Button size="small" onClick={() => setMost(most + atOnce)}>
            Show more ({formatNumber(found.length - most)} left)
          </Button>
        </div>
      )}
      {children}
    </Card>
  )
}

/** How many items one request loads. */
export const pageSize = 1_000

interface PagesProps {
  readonly page: number
  readonly total: number
  readonly plural: string
  readonly onPage: (page: number) => void
}

/** Leads to the items that one request cannot load. */
export function Pages({ page, total, plural, onPage }: PagesProps): JSX.Element | null {
  const last = Math.max(1, Math.ceil(total / pageSize))
  if (last === 1 && page === 1) return null
  return (
    <div class="row access-pages">
      <Button size="small" isDisabled={page <= 1} onClick={() => onPage(page - 1)}>
        Newer
      </Button>
      <Button size="small" isDisabled={page >= last} onClick={() => onPage(page + 1)}>
        Older
      </Button>
      <span class="muted small">
        Part {page} of {last}, with up to {formatNumber(pageSize)} of {formatNumber(total)} {plural}
        . The search looks only in this part.
      </span>
    </div>
  )
}
