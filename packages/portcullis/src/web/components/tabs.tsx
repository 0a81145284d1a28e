import type { ComponentChildren, JSX, TargetedKeyboardEvent } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { useShortcut } from '../shortcuts.ts'

export interface Tab<Name extends string> {
  readonly name: Name
  readonly title: string
}

export interface TabsProps<Name extends string> {
  readonly label: string
  readonly tabs: readonly Tab<Name>[]
  readonly shown: Name
  readonly onShow: (name: Name) => void
  /** The class of the whole component, for pages with their own layout. */
  readonly class?: string
  readonly children: ComponentChildren
}

const steps: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1 }

/** The arrow keys switch tabs, as in the tabs pattern of the ARIA Authoring Practices Guide. */
export function Tabs<Name extends string>(props: TabsProps<Name>): JSX.Element {
  const { label, tabs, shown, onShow, class: layout = 'stack', children } = props
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  useShortcut({ keys: 'ArrowLeft ArrowRight', label: 'Switch between tabs' })
  useLayoutEffect(() => showSelected(list.current), [shown])
  const move = (event: TargetedKeyboardEvent<HTMLElement>) => {
    const step = steps[event.key]
    if (step === undefined) return
    event.preventDefault()
    const from = tabs.findIndex(({ name }) => name === shown)
    const index = (from + step + tabs.length) % tabs.length
    const next = tabs[index]
    if (!next) return
    onShow(next.name)
    list.current?.querySelectorAll('button')[index]?.focus()
  }
  return (
    <div class={`tabs ${layout}`}>
      {/* oxlint-disable-next-line jsx-a11y/interactive-supports-focus -- its tabs take the focus */}
      <div role="tablist" aria-label={label} ref={list} onKeyDown={move}>
        {tabs.map(({ name, title }) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-${name}`}
            aria-selected={name === shown}
            aria-controls={`${id}-panel`}
            tabIndex={name === shown ? 0 : -1}
            onClick={() => onShow(name)}
          >
            {title}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${shown}`}>
        {children}
      </div>
    </div>
  )
}

/** In a narrow window, the tab that the address selects would be outside. The page itself does not scroll. */
function showSelected(list: HTMLElement | null): void {
  const tab = list?.querySelector('[aria-selected="true"]')?.getBoundingClientRect()
  if (!list || !tab) return
  const { left, right } = list.getBoundingClientRect()
  list.scrollLeft += Math.max(0, tab.right - right) - Math.max(0, left - tab.left)
}
