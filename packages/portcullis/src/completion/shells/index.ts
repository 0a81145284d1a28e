import { toBashScript } from './bash.ts'
import { toFishScript } from './fish.ts'
import type { ToScript } from './to-script.ts'
import { toZshScript } from './zsh.ts'

export const shells: Readonly<Record<string, ToScript>> = {
  bash: toBashScript,
  zsh: toZshScript,
  fish: toFishScript,
}
