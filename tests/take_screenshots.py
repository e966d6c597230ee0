"""Takes the pictures of README and docs of a demo at work: `python -m tests.take_screenshots`, in the folder of the
project.

It needs playwright and Chromium (DSE_CHROMIUM names one that is not on the PATH), and takes a minute or two.
"""

import asyncio
import os
import shutil
from pathlib import Path
from urllib.parse import quote

from playwright.async_api import Page, async_playwright

from node.extras.demo.runner import DemoOptions, running_demo

IMAGES = Path("docs/images")
QUERY = "how do I open a socket in python"
SIZES = {"search": (1000, 780), "owner": (1000, 900)}


async def main() -> None:
    """Start a demo, let it settle, and look at it as a reader and as its owner."""
    async with running_demo(DemoOptions(nodes=3), print) as demo, async_playwright() as playwright:
        await demo.wait_formed()
        await demo.start_crawl()
        await demo.wait_settled(300.0)
        node = demo.nodes[0]
        chromium = os.environ.get("DSE_CHROMIUM") or shutil.which("chromium")
        browser = await playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = await browser.new_page(color_scheme="light")
        await take(page, f"{node.url}/search?q={quote(QUERY)}", "search")
        token = (node.data_dir / "admin.token").read_text().strip()
        await page.set_extra_http_headers({"Authorization": f"Bearer {token}"})
        await take(page, f"{node.url}/owner", "owner")
        await browser.close()


async def take(page: Page, address: str, name: str) -> None:
    """Look at an address and keep what is seen."""
    width, height = SIZES[name]
    await page.set_viewport_size({"width": width, "height": height})
    await page.goto(address)
    await page.screenshot(path=IMAGES / f"{name}.png")


if __name__ == "__main__":
    asyncio.run(main())
