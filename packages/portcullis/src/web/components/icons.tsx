import type { JSX } from 'preact'

/** Paths on a 24 by 24 grid, drawn in the current text colour. */
const paths = {
  overview: 'M3 12h4l3-8 4 16 3-8h4',
  users:
    'M16 21v-2a4 4 0 0 0-4-4H7a4 4 0 0 0-4 4v2M9.5 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8M21 21v-2a4 4 0 0 0-3-3.87M16 3.13a4 4 0 0 1 0 7.75',
  events: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18M12 7v5l3 3',
  mailbox: 'M3 6h18v12H3zM3 7l9 6 9-6',
  limits: 'M4 18a8 8 0 1 1 16 0M12 18l4-6M12 18h.01',
  graphql: 'M12 3l8 4.5v9L12 21l-8-4.5v-9zM12 3l8 13.5H4z',
  try: 'M6 4l14 8-14 8z',
  settings: 'M4 7h9M17 7h3M4 17h3M11 17h9M13 4v6M11 14v6',
  pause: 'M9 5v14M15 5v14',
  plus: 'M12 5v14M5 12h14',
  minus: 'M5 12h14',
  search: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14M20 20l-4-4',
  close: 'M6 6l12 12M18 6L6 18',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  check: 'M5 12l5 5 9-10',
  alert: 'M12 4l9 16H3zM12 10v4M12 17h.01',
  refresh: 'M20 11A8 8 0 0 0 6 6.3L4 8M4 4v4h4M4 13a8 8 0 0 0 14 4.7l2-1.7M20 20v-4h-4',
  link: 'M10 14a4 4 0 0 0 6 .5l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6-.5l-3 3a4 4 0 0 0 6 6l1-1',
  trash: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v6M14 11v6',
  sun: 'M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8M12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.5 1.5M17.5 17.5L19 19M19 5l-1.5 1.5M6.5 17.5L5 19',
  moon: 'M20 14.5A8 8 0 1 1 9.5 4a6.5 6.5 0 0 0 10.5 10.5',
  system: 'M3 5h18v11H3zM8 20h8M12 16v4',
  chevron: 'M9 6l6 6-6 6',
  ban: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18M5.6 5.6l12.8 12.8',
  leave: 'M10 4H5v16h5M14 8l4 4-4 4M18 12H9',
  phone: 'M8 3h8v18H8zM11 18h2',
  chat: 'M4 5h16v11H9l-5 4z',
  keyboard: 'M3 6h18v12H3zM7 10h.01M11 10h.01M15 10h.01M17 14h.01M7 14h7',
  key: 'M8 19a4 4 0 1 0 0-8 4 4 0 0 0 0 8M11 12l9-9M16 7l3 3M13.5 9.5l2 2',
  gate: 'M4 21V10a8 8 0 0 1 16 0v11M8 5v14M12 3v18M16 5v14M4 11h16M4 16h16',
} as const

export type IconName = keyof typeof paths

/** Decorative and hidden from screen readers: there is always a text beside it. */
export function Icon({ name }: { readonly name: IconName }): JSX.Element {
  return (
    <svg
      viewBox="0 0 24 24"
      width="18"
      height="18"
      fill="none"
      stroke="currentColor"
      stroke-width="1.75"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={paths[name]} />
    </svg>
  )
}
