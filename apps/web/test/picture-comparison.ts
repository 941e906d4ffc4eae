import type { Page } from "playwright-core";

/** Of the picture, in pixels. Letters of another font fill a square about as much, and a part of the page that is elsewhere does not. */
const SQUARE = 16;
/** How far the colours of a square may differ, of 255. */
const COLOUR = 18;

/** A picture in half its size, which is enough to be seen and compared. */
export const halved = async (tab: Page, picture: Buffer): Promise<Buffer> => {
  const base64 = await tab.evaluate(async (source) => {
    const bitmap = await createImageBitmap(await (await fetch(source)).blob());
    const canvas = new OffscreenCanvas(bitmap.width / 2, bitmap.height / 2);
    const context = canvas.getContext("2d")!;
    context.imageSmoothingQuality = "high";
    context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
    const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: "image/png" })).arrayBuffer());
    return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  }, asUrl(picture));
  return Buffer.from(base64, "base64");
};

/** The share of squares of two pictures whose colours differ, in percent. Pictures of other sizes differ in all. */
export const difference = (tab: Page, pictures: { kept: Buffer; taken: Buffer }): Promise<number> =>
  tab.evaluate(
    async ({ urls, square, limit }) => {
      const squaresOf = async (url: string) => {
        const bitmap = await createImageBitmap(await (await fetch(url)).blob());
        const [width, height] = [Math.round(bitmap.width / square), Math.round(bitmap.height / square)];
        const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d")!;
        context.drawImage(bitmap, 0, 0);
        const { data } = context.getImageData(0, 0, bitmap.width, bitmap.height);
        const sums = Array.from({ length: width * height }, () => [0, 0, 0]);
        for (let y = 0; y < height * square && y < bitmap.height; y++)
          for (let x = 0; x < width * square && x < bitmap.width; x++)
            for (let channel = 0; channel < 3; channel++)
              sums[Math.floor(y / square) * width + Math.floor(x / square)]![channel]! +=
                data[(y * bitmap.width + x) * 4 + channel]! / (square * square);
        return { width, sums };
      };
      const [kept, taken] = await Promise.all(urls.map(squaresOf));
      if (kept!.width !== taken!.width || kept!.sums.length !== taken!.sums.length) return 100;
      const others = kept!.sums.filter((sum, at) =>
        sum.some((value, channel) => Math.abs(value - taken!.sums[at]![channel]!) > limit),
      );
      return (100 * others.length) / kept!.sums.length;
    },
    { urls: [asUrl(pictures.kept), asUrl(pictures.taken)], square: SQUARE / 2, limit: COLOUR },
  );

const asUrl = (picture: Buffer): string => `data:image/png;base64,${picture.toString("base64")}`;
