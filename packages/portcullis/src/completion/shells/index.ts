import type { ToScript } from '../command-tree.ts'
import { toBashScript } from './bash.ts'
import { toFishScript } from './fish.ts'
import { toZshScript } from './zsh.ts'

export const shells: Readonly<Record<string, ToScript>> = {
  bash: toBashScript,
  zsh: toZshScript,
  fish: toFishScript,
}
