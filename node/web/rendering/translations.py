"""Holds the words of the pages, in English and Chinese, and chooses which of the two a reader gets.

Pure: strings only. A page asks for `t("results.total", total=…)`; both languages have every key, a test sees to it.
"""

from collections import Counter
from collections.abc import Callable
from typing import Literal

from index import FILTERS
from node.web.rendering.owner_texts import OWNER_TEXTS
from node.web.rendering.search_texts import SEARCH_TEXTS

Tongue = Literal["en", "zh"]
Translate = Callable[..., str]
Texts = dict[str, tuple[str, str]]


def merged(*tables: Texts) -> Texts:
    """Join tables of texts; raises ValueError naming the keys that two of them have."""
    keys = Counter(key for table in tables for key in table)
    if twice := [key for key, count in keys.items() if count > 1]:
        raise ValueError(f"texts with the same key: {', '.join(twice)}")
    return {key: text for table in tables for key, text in table.items()}


_PAGE_TEXTS: Texts = {
    "title": ("dse: a search engine that nobody owns", "dse：不属于任何人的搜索引擎"),
    "skip": ("Skip to the results", "跳到结果"),
    "search.label": ("Search the web", "搜索网页"),
    "search.button": ("Search", "搜索"),
    "home.claim": (
        "A search engine that nobody owns. Its index is kept by everyone who runs a node.",
        "不属于任何人的搜索引擎。索引由每一位运行节点的人共同保存。",
    ),
    "home.network": ("Network", "网络"),
    "home.nodes": ("nodes", "个节点"),
    "home.node": ("node", "个节点"),
    "home.about": ("about", "约"),
    "home.documents": ("pages in the network", "个网页（全网）"),
    "home.document": ("page in the network", "个网页（全网）"),
    "home.documents.here": ("pages kept on this node", "个网页保存在本节点"),
    "home.document.here": ("page kept on this node", "个网页保存在本节点"),
    "home.waiting": ("pages waiting to be fetched", "个网页等待抓取"),
    "home.empty": (
        "Nothing has been collected yet. Hand it a first address with",
        "目前还没有收集任何网页。可以这样给它第一个地址：",
    ),
    "home.help": ("How to ask", "搜索语法"),
    "help.all": ("all signs and filters", "全部语法说明"),
    "help.title": ("How to ask", "搜索语法"),
    "help.words": (
        "Ask as you would ask a person. Words are wished, not demanded: pages that hold more of them, in the title, "
        "close together, stand higher. Other forms of a word are found with it (house, houses). Words that are too "
        "common to tell anything are left out, and the page says so.",
        "像平常提问那样输入即可。词语只是期望，并非必须：包含得越多、出现在标题中、彼此越近的网页排得越靠前。"
        "同一个词的其他形式也会被找到。过于常见的词不参与查找，页面会说明。",
    ),
    "help.signs": ("Signs", "符号"),
    "help.filters": ("Filters", "筛选条件"),
    "help.values": (
        "A filter has no space after its colon; with a minus before it, it excludes. A value that cannot be is "
        "named above the results.",
        "冒号后不加空格；前面加减号表示排除。无效的值会在结果上方指出。",
    ),
    "help.results": ("Results", "搜索结果"),
    "help.results.counted": (
        "Counted are pages that hold enough of the words: all of one or two, two thirds of up to eight, a third of "
        "more. Others may follow them in the list.",
        "计数的是包含足够多词语的网页：一两个词须全部包含，八个以内须三分之二，更多则须三分之一。其他网页可能排在其后。",
    ),
    "help.results.sorted": (
        "Newest first shows only what is counted, by the date that each page gives itself; the feed has the same.",
        "按日期排序只显示计数的网页，以网页自述的日期为准；订阅内容与之相同。",
    ),
    "help.results.folded": (
        "Pages that say nearly the same stand under the first of them; of ten results at most three are of one site "
        "while others follow.",
        "内容几乎相同的网页归在第一个之下；若还有其他网站的结果，每十条中同一网站至多三条。",
    ),
    "help.results.exact": (
        "The line above the results says whether the whole network answered, and where the answer may not be exact.",
        "结果上方的一行说明全网是否均已应答，以及结果何处可能不精确。",
    ),
    "help.phrase": ("these words side by side", "连在一起的词"),
    "help.demanded": (
        "a page must hold this word; AND demands both of its sides",
        "网页必须包含该词；AND 两边的词也是",
    ),
    "help.without": ("without this word; also NOT snake", "不含该词；也可写 NOT 水果"),
    "help.site": ("only this site", "只限该网站"),
    "help.or": ("either of the two; also |", "任一即可；也可写 |"),
    "help.group": ("parentheses hold together what belongs together", "括号把相关的词归在一起"),
    "help.prefix": (
        "all words that begin so, three letters or more: the commonest 32 of the network",
        "以此开头的词（至少三个字母），取全网最常见的 32 个",
    ),
    "help.fuzzy": ("words that are spelled nearly so, four letters or more", "拼写相近的词（至少四个字母）"),
    "help.prefix.example": ("univers*", "univers*"),
    "help.fuzzy.example": ("recieve~", "recieve~"),
    "help.option": (
        "options of commands are words, not exclusions, beside the name of a command",
        "命令名旁的选项按词语理解，不作排除",
    ),
    "help.phrase.example": ('"open source"', '"开放源代码"'),
    "help.demanded.example": ("python +socket", "苹果 +手机"),
    "help.without.example": ("python -snake", "苹果 -水果"),
    "help.or.example": ("cat OR dog", "猫 OR 狗"),
    "help.group.example": ("(cat OR dog) food", "(猫 OR 狗) 食品"),
    "help.option.example": ("rm -rf", "rm -rf"),
    "state.crawling": ("crawling", "正在抓取"),
    "state.running": ("crawling", "正在抓取"),
    "state.idle": ("idle", "空闲"),
    "state.paused": ("paused", "已暂停"),
    "state.waiting": ("waiting", "等待中"),
    "crawl.running": ("crawling, {rate} pages a second", "正在抓取，每秒 {rate} 页"),
    "crawl.idle": ("crawler: {state}", "抓取器：{state}"),
    "results.about": ("About {total} results", "约 {total} 条结果"),
    "results.at_least": ("At least {total} results", "至少 {total} 条结果"),
    "results.exact": ("{total} results", "共 {total} 条结果"),
    "results.one": ("1 result", "共 1 条结果"),
    "results.some.none": (
        "No page has enough of the words; these have some of them.",
        "没有网页包含足够多的词；以下网页包含其中一部分。",
    ),
    "results.some.one": (
        "1 page has enough of the words; the others have some of them.",
        "1 个网页包含足够多的词；其余网页只包含一部分。",
    ),
    "results.some": (
        "{total} pages have enough of the words; the others have some of them.",
        "{total} 个网页包含足够多的词；其余网页只包含一部分。",
    ),
    "results.none": ("Nothing found for", "没有找到"),
    "results.corrected": ("This is what was found for", "以下是这一搜索的结果："),
    "results.meant": ("Did you mean", "您是不是要找"),
    "results.others": ("Others that begin so:", "相近的搜索："),
    "results.took": ("{ms} ms", "{ms} 毫秒"),
    "results.whole": ("the whole network answered", "全网均已应答"),
    "results.partial": (
        "Only {answered} of {slots} parts of the network answered in time, so results may be missing.",
        "全网 {slots} 个分区中只有 {answered} 个及时应答，结果可能不完整。",
    ),
    "results.late": (
        "Some nodes answered too late, so the order may differ a little from a complete answer.",
        "部分节点应答过晚，结果排序可能与完整结果略有不同。",
    ),
    "why.order": (
        "more pages match than were compared, so their order may differ a little",
        "匹配的网页过多，未能全部比较，排序可能略有不同",
    ),
    "why.changed": ("pages are gone or changed, and an index does not know yet", "有网页已消失或更新，索引尚未跟上"),
    "why.refuted": ("wrong answers of nodes were left out: {peers}", "已排除节点的错误应答：{peers} 个"),
    "why.disputed": ("nodes contradict each other: {peers}", "节点的说法互相矛盾：{peers} 个"),
    "why.rules": (
        "it is by other rules of search than those in force",
        "所用的检索规则不是当前生效的规则",
    ),
    "why.strategy": ("nodes with another version of the strategy: {peers}", "使用其他策略版本的节点：{peers} 个"),
    "why.owners": ("nodes that see other members: {peers}", "成员视图不同的节点：{peers} 个"),
    "why.unsaid": (
        "nodes with older software, which compare no copies: {peers}",
        "旧版本节点（不比较副本）：{peers} 个",
    ),
    "why.asleep": ("owners asleep: {peers}", "休眠的所有者：{peers} 个"),
    "why.behind": ("parts whose copies are still being compared: {slots}", "副本仍在比对的分区：{slots} 个"),
    "why.unlike": ("parts whose copies differ: {slots}", "副本不一致的分区：{slots} 个"),
    "why.apart": ("this node is apart from its network", "本节点与所属网络脱离"),
    "why.vanished": (
        "half of the network has gone silent, and may live on elsewhere",
        "全网半数成员已失联，可能仍在别处运行",
    ),
    "read.cut_text": ("Read up to “{piece}”; what follows is too long.", "查询过长，只读到“{piece}”为止。"),
    "read.cut_words": ("Too many words: left out from “{piece}” on.", "词语过多，从“{piece}”起未计入。"),
    "read.literal": ("“{piece}” is read as words.", "“{piece}”按普通词语理解。"),
    "read.option": (
        "“{piece}” is read as an option of a command, not as an exclusion; NOT before a word excludes it.",
        "“{piece}”按命令选项理解，不作排除；要排除某词，请在其前写 NOT。",
    ),
    "read.closed": ("{piece} was left open and is closed at the end.", "{piece} 未闭合，已在末尾补上。"),
    "read.unpaired": ("{piece} without its counterpart is left out.", "{piece} 没有配对，已忽略。"),
    "read.no_filter": ("“{piece}” is no filter that can be.", "“{piece}”不是有效的筛选条件。"),
    "read.no_field": (
        "“{piece}” names no filter and is read as words.",
        "没有名为“{piece}”的筛选条件，按普通词语理解。",
    ),
    "read.common": ("Not looked for, as too common: {piece}", "过于常见，未作查找：{piece}"),
    "read.expanded": ("Looked for in its place: {piece}", "已展开：{piece}"),
    "read.nothing": ("There is no word to look for.", "没有可查找的词语。"),
    "results.by_date": (
        "Sorted by date, only pages that hold enough of the words are shown.",
        "按日期排序时，只显示包含足够多词语的网页。",
    ),
    "results.hint": (
        "Try fewer or other words, or take away a filter. What nobody has collected yet cannot be found here.",
        "试试更少或不同的词，或去掉筛选条件。尚未被收集的网页在这里是找不到的。",
    ),
    "results.next": ("Next page", "下一页"),
    "results.first": ("First page", "第一页"),
    "results.page": ("Page {page}", "第 {page} 页"),
    "results.heading": ("Results", "搜索结果"),
    "results.cached": ("stored copy", "网页快照"),
    "results.named": (
        "never fetched; {count} sites link to it by such words",
        "从未抓取；{count} 个网站以这些词链接到它",
    ),
    "results.fetched": ("collected {day}", "收集于 {day}"),
    "results.replicas": ("kept by {count} nodes", "{count} 个节点保存"),
    "results.replica": ("kept by 1 node", "1 个节点保存"),
    "results.site": ("more from this site", "该网站的更多结果"),
    "results.similar": ("nearly the same text: {count}", "内容几乎相同的网页：{count}"),
    "results.why": ("why here?", "为何排在这里？"),
    "results.untitled": ("Untitled page", "无标题网页"),
    "sort.relevance": ("best first", "按相关度"),
    "sort.date": ("newest first", "按日期"),
    "feed.about": ("Pages found for: {query}", "搜索结果：{query}"),
    "facet.site": ("Sites", "网站"),
    "facet.language": ("Languages", "语言"),
    "facet.year": ("Years", "年份"),
    "facet.type": ("Types", "类型"),
    "filter.remove": ("remove this filter", "去掉该筛选条件"),
    "filter.lang": ("language: {value}", "语言：{value}"),
    "filter.site": ("site: {value}", "网站：{value}"),
    "query.bad": ("That question does not parse", "无法解析该查询"),
    "query.mend": ("Mend it in the box above and search again.", "请在上方修改后重新搜索。"),
    "status.title": ("State of this node", "本节点状态"),
    "status.node": ("Node", "节点"),
    "status.version": ("Version", "版本"),
    "status.nodes": ("Nodes in the network", "网络节点数"),
    "status.role": ("Role", "角色"),
    "status.client": ("client: owns nothing, fetches by order", "客户端：不保存数据，按指令抓取"),
    "status.leaving": ("Leaving", "正在退出"),
    "status.leaving.value": (
        "the network, for good; slots left to hand over: {slots}",
        "永久退出网络；待移交分区：{slots}",
    ),
    "status.reachable": ("Reached from outside", "外部可达"),
    "status.families": ("Peers by protocol", "按协议的对等节点"),
    "status.documents": ("Pages kept here", "本节点保存的网页"),
    "status.slots": ("Parts of the key space", "键空间分区"),
    "status.slots.value": (
        "{owned} owned, {ready} ready to answer, {leased} being crawled",
        "拥有 {owned}，可应答 {ready}，正在抓取 {leased}",
    ),
    "status.settled": ("Index", "索引"),
    "status.settled.yes": (
        "settled: all copies are indexed alike, and no address waits to be fetched",
        "已稳定：所有副本的索引一致，没有待抓取的网址",
    ),
    "status.settled.due": (
        "all copies are indexed alike, while {due} addresses of the network wait to be fetched",
        "所有副本的索引一致，全网尚有 {due} 个网址待抓取",
    ),
    "status.settled.unheld": (
        "all copies are indexed alike, while nobody crawls {unheld} slots just now",
        "所有副本的索引一致，目前有 {unheld} 个分区无人抓取",
    ),
    "status.settled.no": ("still catching up", "仍在追赶"),
    "status.replicas": ("Slots with too few copies just now", "当前副本不足的分区"),
    "status.crawl": ("Crawler", "抓取器"),
    "status.frontier": ("Addresses waiting", "等待抓取的地址"),
    "status.fetched": ("Pages fetched since the start", "启动以来抓取的网页"),
    "status.rate": ("Pages a second", "每秒抓取"),
    "status.strategy": ("Strategy document", "策略文档"),
    "status.strategy.value": ("version {version}, valid until {day}", "第 {version} 版，有效期至 {day}"),
    "status.disk": ("Disk", "磁盘"),
    "status.disk.value": ("{used} of {quota}", "已用 {used}，共 {quota}"),
    "status.owner": ("This browser is logged in as the owner's.", "此浏览器已以所有者身份登录。"),
    "status.logout": ("Log out", "退出登录"),
    "status.live": ("renew this page every 5 seconds", "每 5 秒刷新本页"),
    "status.still": ("stop renewing", "停止刷新"),
    "status.warnings": ("To look at", "需要注意"),
    "status.members": ("Members of the network", "网络成员"),
    "peer.id": ("node", "节点"),
    "peer.where": ("reached at", "地址"),
    "peer.state": ("state", "状态"),
    "peer.live": ("live", "在线"),
    "peer.away": ("not heard of", "失联"),
    "peer.leaving": ("leaving for good", "正在退出"),
    "peer.here": ("this node", "本节点"),
    "peer.ready": ("ready", "可应答"),
    "peer.leased": ("crawls", "抓取"),
    "peer.heard": ("last heard", "最后联系"),
    "peer.ago": ("{seconds} s ago", "{seconds} 秒前"),
    "cache.title": ("Stored copy", "网页快照"),
    "cache.of": ("Stored copy of", "网页快照："),
    "cache.taken": ("as it was on {day}", "抓取于 {day}"),
    "cache.origin": ("taken from {origin} and not fetched here", "取自 {origin}，并非本网络抓取"),
    "cache.asked": ("(the nearest to {day})", "（最接近 {day}）"),
    "cache.note": (
        "Scripts, forms, links and outside images are off here. The live page may have changed.",
        "此处脚本、表单、链接和外部图片均已停用。原网页可能已更改。",
    ),
    "cache.live": ("Open the live page", "打开原网页"),
    "cache.none": ("No copy of this page is stored in the network.", "网络中没有保存该网页的快照。"),
    "bot.title": ("About the crawler", "关于抓取器"),
    "bot.name": ("It calls itself", "它的名称"),
    "bot.network": ("It crawls for the network", "所属网络"),
    "bot.contact": ("Questions and requests of site owners", "网站所有者联系页面"),
    "bot.what": (
        "This node fetches public web pages to make them searchable. All nodes of the network together behave as one "
        "crawler: a site is fetched by one node at a time, never two requests at once, with a pause after each.",
        "本节点抓取公开网页，使其可被搜索。全网所有节点共同表现为一个抓取器：同一网站同一时间只由一个节点抓取，"
        "绝不并发请求，每次请求后都会停顿。",
    ),
    "bot.robots": (
        "It obeys robots.txt (RFC 9309) with Crawl-delay, Retry-After, and what pages ask of robots: noindex, "
        "nofollow, noarchive, nosnippet, max-snippet, unavailable_after.",
        "它遵守 robots.txt（RFC 9309）及 Crawl-delay、Retry-After，以及网页对爬虫的要求：noindex、nofollow、noarchive、"
        "nosnippet、max-snippet、unavailable_after。",
    ),
    "bot.often": (
        "A page is visited again as often as it changes, between once an hour and once in 60 days; after each request "
        "to a site a second passes at least, or as long as its Crawl-delay says.",
        "网页按其变化频率重新访问，最短每小时一次，最长 60 天一次；对同一网站每次请求后至少停顿一秒，"
        "或按 Crawl-delay 的要求停顿。",
    ),
    "bot.from": (
        "Requests come from the addresses of volunteers, by IPv4 and IPv6, so there is no list of networks to allow or "
        "to block: refuse it by its name, in robots.txt. Anybody can send this name; a visitor that ignores robots.txt "
        "is not this program.",
        "请求来自志愿者的 IPv4 和 IPv6 地址，因此没有可供放行或屏蔽的网段列表：请按名称在 robots.txt 中设定规则。"
        "任何人都可以冒用此名；不遵守 robots.txt 的访问者不是本程序。",
    ),
    "bot.signed": (
        "Its requests are signed (Web Bot Auth, RFC 9421): a visitor with this name whose signature fails, or whose "
        "key is not listed, is no member of this network.",
        "它的请求带有签名（Web Bot Auth，RFC 9421）：若访问者使用此名，但签名无效或其密钥未列出，则不是本网络的成员。",
    ),
    "bot.keys": ("Keys of the members", "成员的密钥"),
    "bot.own_key": ("This node signs by the key", "本节点的签名密钥"),
    "bot.remove": (
        "To have pages removed that are stored already, put this file at the site, here for all its pages, and have "
        "any node read it (dse-node remove URL): they are hidden within a minute and erased within an hour.",
        "若要删除已保存的网页，请在网站放置此文件（此例适用于全部网页），并让任一节点读取它（dse-node remove URL）："
        "这些网页将在一分钟内隐藏、一小时内清除。",
    ),
    "bot.stop": ("To keep it out of your site, put this into robots.txt:", "若不希望被抓取，请在 robots.txt 中写入："),
    "error.title": ("That did not work", "出错了"),
    "error.back": ("To the front page", "返回首页"),
    "error.404": ("There is no such page here.", "这里没有该页面。"),
    "error.500": (
        "Something unforeseen happened on this node; its log says what.",
        "本节点发生了意料之外的错误，详情见日志。",
    ),
    "error.503": ("This node has too much to do just now; try again in a moment.", "本节点正忙，请稍后再试。"),
    "foot.help": ("Help", "帮助"),
    "foot.status": ("Status", "状态"),
    "foot.bot": ("Crawler", "抓取器"),
    "foot.api": ("API", "API"),
    "foot.other": ("中文", "English"),
}
_FILTERS_IN_CHINESE = {
    "site": "只限该网站及其下级；也可写 site:*.org",
    "lang": "只限该语言的网页（ISO 639-1）",
    "intitle": "标题中有该词（原样）",
    "inurl": "网址中有该词",
    "filetype": "只限该类文件；html 指一切网页",
    "before": "早于该年、月或日；未注明日期的网页除外",
    "after": "该年、月或日当天及以后；未注明日期的网页除外",
}
_FILTER_TEXTS = {f"help.filter.{name}": (rule.about, _FILTERS_IN_CHINESE[name]) for name, rule in FILTERS.items()}
TEXTS = merged(_PAGE_TEXTS, SEARCH_TEXTS, OWNER_TEXTS, _FILTER_TEXTS)


def choose(wanted: str, accepted: str) -> Tongue:
    """Choose the language of a page: the `hl` parameter where it names one, else the better of Accept-Language."""
    for code in (wanted, *_by_preference(accepted)):
        language = code.lower().replace("_", "-").partition("-")[0]
        if language == "zh":
            return "zh"
        if language == "en":
            return "en"
    return "en"


def translator(tongue: Tongue) -> Translate:
    """Return a function from a key and its values to a text; `otherwise` stands in for a key without translation."""
    column = 1 if tongue == "zh" else 0

    def translate(key: str, otherwise: str | None = None, **values: object) -> str:
        text = TEXTS[key][column] if otherwise is None or key in TEXTS else otherwise
        return text.format(**values) if values else text

    return translate


def _by_preference(accepted: str) -> list[str]:
    """List the codes of an Accept-Language header, most wanted first; those with q = 0 left out."""
    weighed = []
    for place, part in enumerate(accepted[:500].split(",")):
        code, _, quality = part.strip().partition(";")
        weight = _quality(quality)
        if code and weight > 0:
            weighed.append((-weight, place, code.strip()))
    return [code for _, _, code in sorted(weighed)]


def _quality(text: str) -> float:
    name, _, value = text.strip().partition("=")
    if name.strip() != "q":
        return 1.0
    try:
        return float(value)
    except ValueError:
        return 0.0
