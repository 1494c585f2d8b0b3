/** The modules of one QR code while it is drawn. */
export class Grid {
  readonly version: number;
  readonly size: number;
  readonly #dark: Uint8Array;
  /** Modules of the function patterns, which hold no data and are never masked. */
  readonly #fixed: Uint8Array;

  constructor(version: number, from?: Grid) {
    this.version = version;
    this.size = version * 4 + 17;
    this.#dark = from ? from.#dark.slice() : new Uint8Array(this.size ** 2);
    this.#fixed = from ? from.#fixed : new Uint8Array(this.size ** 2);
  }

  /** A grid whose modules can change while those of this one stay. */
  copy(): Grid {
    return new Grid(this.version, this);
  }

  readonly isDark = (x: number, y: number): boolean => this.#dark[y * this.size + x] === 1;

  isFixed(x: number, y: number): boolean {
    return this.#fixed[y * this.size + x] === 1;
  }

  set(x: number, y: number, isDark: boolean): void {
    this.#dark[y * this.size + x] = Number(isDark);
  }

  /** Sets a module of a function pattern. */
  fix(x: number, y: number, isDark: boolean): void {
    this.set(x, y, isDark);
    this.#fixed[y * this.size + x] = 1;
  }
}
