import type { JSX, TargetedKeyboardEvent } from 'preact'
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Icon } from '../components/icons.tsx'
import { showFailure } from '../components/toasts.tsx'
import { type PaletteGroup, type PaletteItem, usePaletteResults } from './palette-items.ts'

const steps: Readonly<Record<string, (index: number, count: number) => number>> = {
  ArrowDown: (index, count) => (index + 1) % count,
  ArrowUp: (index, count) => (index - 1 + count) % count,
}

/** Follows the combobox pattern of the ARIA Authoring Practices Guide: the focus stays in the field. */
export function Palette(): JSX.Element {
  const [text, setText] = useState('')
  const [pointedId, setPointedId] = useState<string>()
  const field = useRef<HTMLInputElement>(null)
  const id = useId()
  const { groups, isSearching, faults } = usePaletteResults(text)
  const items = groups.flatMap(({ items: some }) => some)
  // By id, so that results that arrive later do not move the choice to another item.
  const active = items.find((item) => item.id === pointedId) ?? items[0]
  const toOptionId = (item: PaletteItem) => `${id}-${items.indexOf(item)}`

  // Before the next paint, so that no key press is lost.
  useLayoutEffect(() => field.current?.focus(), [])
  useEffect(() => {
    if (active) document.getElementById(toOptionId(active))?.scrollIntoView({ block: 'nearest' })
  }, [active?.id])

  const close = () => field.current?.closest('dialog')?.close()
  const run = async (item: PaletteItem) => {
    // First, so that the browser restores the focus before the action moves it.
    close()
    try {
      await item.run()
    } catch (error) {
      showFailure(error)
    }
  }
  const press = (event: TargetedKeyboardEvent<HTMLInputElement>) => {
    if (event.isComposing) return
    const step = steps[event.key]
    if (event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault()
      close()
    } else if (event.key === 'Enter' && active) {
      event.preventDefault()
      void run(active)
    } else if (step && active) {
      event.preventDefault()
      setPointedId(items[step(items.indexOf(active), items.length)]?.id)
    }
  }
  const status = toStatus(items.length, isSearching)
  return (
    <>
      <div class="palette-field">
        <Icon name="search" />
        <input
          ref={field}
          class="input"
          type="text"
          role="combobox"
          aria-label="Search pages, actions, users and rules"
          aria-expanded={items.length > 0}
          aria-controls={`${id}-list`}
          aria-activedescendant={active && toOptionId(active)}
          aria-autocomplete="list"
          placeholder="Search pages, actions, users and rules"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value)
            setPointedId(undefined)
          }}
          onKeyDown={press}
        />
        <button type="button" class="button quiet small" aria-label="Close" onClick={close}>
          <Icon name="close" />
        </button>
      </div>
      <div class="palette-list" id={`${id}-list`} role="listbox" aria-label="Results" tabIndex={-1}>
        {groups.map((group) => (
          <Group
            key={group.title}
            group={group}
            active={active}
            toOptionId={toOptionId}
            onPoint={(item) => setPointedId(item.id)}
            onRun={run}
          />
        ))}
      </div>
      {items.length === 0 && !isSearching && (
        <p class="palette-empty muted">Nothing matches “{text.trim()}”. Try another word.</p>
      )}
      <footer class="palette-foot small">
        <span class="muted" role="status">
          {status}
        </span>
        {faults.map((fault) => (
          <span key={fault} class="palette-fault" role="alert">
            {fault}
          </span>
        ))}
      </footer>
    </>
  )
}

function toStatus(count: number, isSearching: boolean): string {
  if (isSearching) return 'Searching…'
  return count === 1 ? '1 result' : `${count === 0 ? 'No' : count} results`
}

interface GroupProps {
  readonly group: PaletteGroup
  readonly active: PaletteItem | undefined
  readonly toOptionId: (item: PaletteItem) => string
  readonly onPoint: (item: PaletteItem) => void
  readonly onRun: (item: PaletteItem) => unknown
}

function Group({ group, active, toOptionId, onPoint, onRun }: GroupProps): JSX.Element {
  const id = useId()
  return (
    <div role="group" aria-labelledby={id}>
      <div id={id} class="palette-title" role="presentation">
        {group.title}
      </div>
      {group.items.map((item) => (
        // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus -- the field has the focus and handles the keys
        <div
          key={item.id}
          id={toOptionId(item)}
          class="palette-option"
          role="option"
          aria-selected={item === active}
          onPointerMove={() => onPoint(item)}
          // Keeps the focus in the field.
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => onRun(item)}
        >
          <Icon name={item.icon} />
          <span class="palette-name">{item.title}</span>
          {item.detail && <span class="small muted palette-detail">{item.detail}</span>}
        </div>
      ))}
    </div>
  )
}
