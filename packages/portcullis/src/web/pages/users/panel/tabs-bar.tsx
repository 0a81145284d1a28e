import type { ComponentChildren, JSX, TargetedKeyboardEvent } from 'preact'
import { useId } from 'preact/hooks'

export interface TabsProps {
  readonly tabs: readonly { readonly name: string; readonly title: string }[]
  readonly shown: string
  readonly onShow: (name: string) => void
  readonly children: ComponentChildren
}

const steps: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 }

/** One stop for the tab key; arrow keys go from one to the next. */
export function Tabs({ tabs, shown, onShow, children }: TabsProps): JSX.Element {
  const id = useId()
  const press = (event: TargetedKeyboardEvent<HTMLDivElement>) => {
    const step = steps[event.key]
    if (step === undefined) return
    const at = tabs.findIndex(({ name }) => name === shown)
    const next = tabs[(at + step + tabs.length) % tabs.length]
    if (!next) return
    onShow(next.name)
    document.getElementById(`${id}-${next.name}`)?.focus()
  }
  return (
    <>
      <div class="user-tabs" role="tablist" aria-label="About this user" onKeyDown={press}>
        {tabs.map(({ name, title }) => (
          <button
            key={name}
            id={`${id}-${name}`}
            type="button"
            role="tab"
            aria-selected={name === shown}
            aria-controls={`${id}-panel`}
            tabIndex={name === shown ? 0 : -1}
            onClick={() => onShow(name)}
          >
            {title}
          </button>
        ))}
      </div>
      <div
        key={shown}
        id={`${id}-panel`}
        class="user-tab-panel stack"
        role="tabpanel"
        aria-labelledby={`${id}-${shown}`}
      >
        {children}
      </div>
    </>
  )
}
